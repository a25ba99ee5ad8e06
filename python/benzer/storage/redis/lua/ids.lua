-- Which document has an id? Its number is filed under the hash of the id, like a posting, and its record tells.
local soon = expired_before(expired, ttl)

-- The number that the writer sees under an id, and the numbers whose records are deleted, of a text of a shard.
local function holder(text, key, id)
  local mine, gone
  search(text, key, function(number)
    number = unpack_number('<I4', number)
    local score = tonumber(call('ZSCORE', base .. 'x', number))
    if score == 0 then
      gone = gone or {}
      gone[number] = true
    elseif not score and number >= soon then
      local start = ttl > 0 and 8 or 4
      local head = call('GETRANGE', base .. 'd' .. number, start, start + 3 + #id)
      if head == pack('<I4', #id) .. id then mine = number end
    end
  end)
  return mine, gone
end

-- Documents from `number` on come at a second; those before the first known time count as seen then.
local function arrive(number, second)
  local last = call('ZREVRANGE', base .. 'f', 0, 0)[1]
  if string.match(last or '0', '^%d+') == second then return end
  if not last then
    number = 0
    call('HSET', KEYS[1], 'format', 2)
  end
  call('ZREMRANGEBYSCORE', base .. 'f', number, number)
  call('ZADD', base .. 'f', number, second .. ' ' .. number)
end

-- Note that a document goes with the next commit.
local function drop(number)
  call('ZADD', base .. 'x', generation + 1, number)
  staged = staged - 1
  if ttl > 0 then
    local stamp = call('GETRANGE', base .. 'd' .. number, 0, 3)
    if #stamp == 4 then call('HINCRBY', base .. 's', (unpack_number('<I4', stamp)), -1) end
  end
end
