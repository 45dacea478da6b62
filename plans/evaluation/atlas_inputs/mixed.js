// Objects, classes, closures, arrays, strings, destructuring, JSON, regular expressions: what scripts do.
let state = 12345;
const draw = (n) => { state = (state * 16807) % 2147483647; return state % n; };

class Point {
  constructor(x, y) { this.x = x; this.y = y; }
  plus(other) { return new Point(this.x + other.x, this.y + other.y); }
  get length() { return Math.sqrt(this.x * this.x + this.y * this.y); }
}
class Weighted extends Point {
  constructor(x, y, weight) { super(x, y); this.weight = weight; }
  plus(other) { const { x, y } = super.plus(other); return new Weighted(x, y, this.weight + 1); }
}

function objects(n) {
  let sum = new Weighted(0, 0, 0);
  for (let i = 0; i < n; i++) sum = sum.plus(i % 3 ? new Point(draw(7), i % 5) : { x: 1, y: 2, ...{ z: 3 } });
  return Math.floor(sum.length) + sum.weight;
}

function closures(n) {
  const counter = (step) => { let count = 0; return (...rest) => { count += step + rest.length; return count; }; };
  const all = [counter(1), counter(2), counter(3)];
  let total = 0;
  for (let i = 0; i < n; i++) total += all[i % 3](i, i) % 11;
  return total;
}

function arrays(n) {
  const numbers = Array.from({ length: n }, () => draw(1000));
  const sorted = numbers.slice().sort((a, b) => a - b);
  const [first, second, ...others] = sorted;
  const stack = [];
  for (const one of others) { stack.push(one); if (one % 7 === 0) stack.pop(); if (one % 11 === 0) stack.unshift(one); if (stack.length > 60) stack.length = 30; }
  const copy = [...stack, ...numbers.map((v) => v + 1).filter((v) => v & 1)];
  return first + second + copy.reduce((a, b) => a + b, 0) + copy.indexOf(17) + new Set(numbers).size;
}

function strings(n) {
  let text = "";
  const words = [];
  for (let i = 0; i < n; i++) {
    const word = String.fromCharCode(97 + draw(26), 97 + draw(26), 97 + draw(26)) + (i % 97);
    words.push(word);
    text += `${word} `;
  }
  const found = text.match(/[a-m]+(\d{2})/g).length;
  const parsed = JSON.parse(JSON.stringify({ words, count: { found, n } }));
  return found + parsed.words.join("").replace(/[aeiou]/g, (c) => c.toUpperCase()).length + text.split(" ").length + "x".padStart(n % 9).trim().length;
}

function maps(n) {
  const count = new Map();
  for (let i = 0; i < n; i++) { const key = `k${draw(300)}`; count.set(key, (count.get(key) ?? 0) + 1); }
  let most = 0;
  for (const [key, value] of count) if (value > most && key !== "k0") most = value;
  const bytes = new Uint8Array(n);
  for (let i = 0; i < n; i++) bytes[i] = (i * 7) ^ (i >> 3);
  return most + bytes.reduce((a, b) => (a * 31 + b) | 0, 7);
}

function* walk(depth) { if (depth > 0) { yield* walk(depth - 1); yield depth; } }

let total = 0;
for (let round = 0; round < 5; round++) {
  total += objects(12000) + closures(30000) + arrays(6000) + strings(4000) + maps(20000);
  for (const depth of walk(60)) total += depth;
}
console.log(total);
