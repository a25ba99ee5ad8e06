-- When were the documents ARGV[5] (4 bytes each) last seen? Gives 8 bytes for each, a floating-point number of seconds.
local code = look()
if code > 0 then return {code} end
local numbers, answer = unpacked(ARGV[5]), {}
for from = 1, #numbers, AT_ONCE do
  local upto = math.min(from + AT_ONCE - 1, #numbers)
  local again = call('ZMSCORE', base .. 't', unpack(numbers, from, upto))
  local now_again = ARGV[1] == 'w' and call('ZMSCORE', base .. 'u', unpack(numbers, from, upto)) or {}
  for i = from, upto do
    local mark = call('ZREVRANGEBYSCORE', base .. 'f', numbers[i], 0, 'LIMIT', 0, 1)[1]
    local at = i - from + 1
    local second = math.max(tonumber(string.match(mark or '0', '^%d+')), tonumber(again[at] or 0),
                            tonumber(now_again[at] or 0))
    answer[#answer + 1] = pack('<d', second)
  end
end
return {0, view.P, view.G, view.E, view.documents, table.concat(answer)}
