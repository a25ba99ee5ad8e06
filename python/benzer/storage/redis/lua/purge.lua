-- Rewrite the shards ARGV[5] <= shard < ARGV[6] of the kind ARGV[4] without the numbers of deleted documents. ARGV[7]
-- is the least number met in the portions before this one; gives that of all up to here.
local kind, first, last = ARGV[4], tonumber(ARGV[5]), math.min(tonumber(ARGV[6]), state[ARGV[4]][4]) - 1
local least, count, list, written, empty = tonumber(ARGV[7]), 0, {}, {}, {}
for shard = first, last do list[#list + 1] = shard end
local texts, long = read(kind, list, true)
for place = 1, #list do
  local text, numbers, kept = texts[place] or '', {}, {}
  for at = 9, #text, POSTING do numbers[#numbers + 1] = (unpack_number('<I4', text, at)) end
  for from = 1, #numbers, AT_ONCE do
    local upto = math.min(from + AT_ONCE - 1, #numbers)
    local scores = call('ZMSCORE', base .. 'x', unpack(numbers, from, upto))
    for i = from, upto do
      if numbers[i] >= expired and tonumber(scores[i - from + 1] or 1) ~= 0 then
        kept[#kept + 1] = sub(text, (i - 1) * POSTING + 1, i * POSTING)
        least = math.min(least, numbers[i])
      end
    end
  end
  if #kept < #numbers then
    count = count + #numbers - #kept
    note(kind, list[place], long[place], #kept * POSTING >= LONG)
    if #kept > 0 then
      written[#written + 1], written[#written + 2] = base .. kind .. list[place], table.concat(kept)
    else
      empty[#empty + 1] = base .. kind .. list[place]
    end
  end
end
write(written, empty)
call('HINCRBY', KEYS[1], state[kind][1], 0 - count)
call('HINCRBY', KEYS[1], 'rewrites', 1)
return done(least)
