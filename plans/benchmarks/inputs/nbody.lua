-- Bodies under mutual attraction, a leap-frog step at a time: floating point and field access.
local steps = tonumber(arg[1])
local bodies = {
  {x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, mass = 40},
  {x = 5, y = -1, z = 0, vx = 0.6, vy = 2.8, vz = 0, mass = 0.04},
  {x = 8, y = 4, z = -0.4, vx = -1, vy = 1.8, vz = 0.01, mass = 0.01},
  {x = 13, y = -15, z = -0.2, vx = 1.1, vy = 0.9, vz = -0.01, mass = 0.002},
  {x = 15, y = -26, z = 0.2, vx = 0.9, vy = 0.6, vz = -0.03, mass = 0.002},
}

local function advance(dt)
  for i = 1, #bodies do
    local a = bodies[i]
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local square = dx * dx + dy * dy + dz * dz
      local pull = dt / (square * math.sqrt(square))
      a.vx, a.vy, a.vz = a.vx - dx * b.mass * pull, a.vy - dy * b.mass * pull, a.vz - dz * b.mass * pull
      b.vx, b.vy, b.vz = b.vx + dx * a.mass * pull, b.vy + dy * a.mass * pull, b.vz + dz * a.mass * pull
    end
  end
  for _, a in ipairs(bodies) do
    a.x, a.y, a.z = a.x + dt * a.vx, a.y + dt * a.vy, a.z + dt * a.vz
  end
end

for _ = 1, steps do advance(0.001) end
for _, a in ipairs(bodies) do print(string.format("%.9f %.9f %.9f", a.x, a.y, a.z)) end
