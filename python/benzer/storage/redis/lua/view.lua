-- By what state does a reader see? ARGV[1..4]: "n" the newest; "f" P G E, one seen before; "w" token, the writer's.
-- P: documents from this number on are not there yet. G: the last commit seen. E: documents below have expired.
local view = {}
local function look()
  local m = call('HMGET', KEYS[1], 'published', 'generation', 'expired', 'floor', 'shards', 'ttl', 'owner',
                 'documents', 'staged', 'rewrites', 'id_shards', 'made')
  if not m[1] then return 1 end
  if (m[12] or '') ~= made then return 7 end
  view.ttl = tonumber(m[6])
  view.shards, view.rewrites, view.id_shards = tonumber(m[5]), tonumber(m[10]), tonumber(m[11])
  view.once = floor_power(view.shards)
  view.documents, view.generation = tonumber(m[8]), tonumber(m[2])
  view.removed = call('ZCARD', base .. 'x')
  if ARGV[1] == 'f' then
    view.P, view.G, view.E = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
    if view.G < tonumber(m[4]) or view.E < tonumber(m[3]) then return 3 end
    return 0
  end
  view.E = expired_before(tonumber(m[3]), tonumber(m[6]))
  if ARGV[1] == 'w' then
    if m[7] ~= ARGV[2] then return 2 end
    view.P, view.G = 2 ^ 33, 2 ^ 53
    view.documents = view.documents + tonumber(m[9])
  else
    view.P, view.G = tonumber(m[1]), tonumber(m[2])
  end
  return 0
end

-- The numbers among `numbers` that are held, in order.
local function held(numbers)
  local inside = {}
  for i = 1, #numbers do
    local number = numbers[i]
    if number < view.P and number >= view.E then inside[#inside + 1] = number end
  end
  if view.removed == 0 then return inside end
  local kept = {}
  for from = 1, #inside, AT_ONCE do
    local upto = math.min(from + AT_ONCE - 1, #inside)
    local scores = call('ZMSCORE', base .. 'x', unpack(inside, from, upto))
    for i = from, upto do
      local score = scores[i - from + 1]
      if not score or tonumber(score) > view.G then kept[#kept + 1] = inside[i] end
    end
  end
  return kept
end

-- The records of documents, as many as `budget` bytes allow and at least one; how many were looked at.
local function records_of(numbers, budget)
  local records, bytes = {}, 0
  for from = 1, #numbers, 32 do
    local names = {}
    for i = from, math.min(from + 31, #numbers) do names[#names + 1] = base .. 'd' .. numbers[i] end
    local some = call('MGET', unpack(names))
    for i = 1, #names do
      records[#records + 1] = some[i]
      bytes = bytes + (some[i] and #some[i] or 0)
      if bytes > budget then return records, from + i - 1 end
    end
  end
  return records, #numbers
end

local function packed(numbers)
  local parts = {}
  for i = 1, #numbers do parts[i] = pack('<I4', numbers[i]) end
  return table.concat(parts)
end

local function unpacked(text)
  local numbers = {}
  for at = 1, #text, 4 do numbers[#numbers + 1] = (unpack_number('<I4', text, at)) end
  return numbers
end
