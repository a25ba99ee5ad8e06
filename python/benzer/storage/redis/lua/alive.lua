-- Which of the documents ARGV[5] (4 bytes each) are held? Gives their numbers, in order.
local code = look()
if code > 0 then return {code} end
return {0, view.P, view.G, view.E, view.documents, packed(held(unpacked(ARGV[5])))}
