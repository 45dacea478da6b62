// Threads, exceptions with finally and scope(exit) on the way, classes, delegates with their context, ranges, associative
// arrays, collections of garbage. Runs long enough for many layouts.
import core.memory : GC;
import core.thread : Thread;
import std.algorithm : map, sort, sum;
import std.array : array;
import std.conv : to;
import std.range : iota;
import std.stdio : writefln, writeln;

__gshared shared(int) unwound;

class Failure : Exception
{
    int depth;
    this(int depth) { super("at " ~ depth.to!string); this.depth = depth; }
}

pragma(inline, false) ulong step(uint op, ulong x)
{
    switch (op)
    {
        case 0: return x + 3;
        case 1: return x * 6364136223846793005UL;
        case 2: return x ^ 0x9e3779b97f4a7c15UL;
        case 3: return x >> 1;
        case 4: return ~x;
        case 5: return x - (1UL << 40);
        case 6: return x | 0x10101;
        case 7: return x * 31 + 7;
        case 8: throw new Failure(-1);
        default: return x + op;
    }
}

pragma(inline, false) int descend(int depth, int failAt)
{
    import core.atomic : atomicOp;
    scope (exit) atomicOp!"+="(unwound, 1);
    if (depth == failAt) throw new Failure(depth);
    return depth == 0 ? 0 : depth + descend(depth - 1, failAt);
}

interface Shape { double area() const; }
class Square : Shape { double a; this(double a) { this.a = a; } double area() const { return a * a; } }
class Circle : Shape { double r; this(double r) { this.r = r; } double area() const { return 3 * r * r; } }

class Worker : Thread
{
    ulong result;
    private ulong seed;
    this(ulong seed) { this.seed = seed; super(&run); }
    private void run()
    {
        ulong x = seed;
        ulong delegate(ulong) add = (ulong y) { x += y; return x; };
        foreach (round; 0 .. 300)
        {
            foreach (i; 0 .. 300) x = step(cast(uint) (x % 8), add(i));
            try x += descend(15, round % 20);
            catch (Failure f) x = x * 3 + f.depth + f.msg.length;
            Shape[] shapes;
            foreach (i; 0 .. 20) shapes ~= i % 2 ? cast(Shape) new Square(i) : new Circle(i);
            x += cast(ulong) shapes.map!(s => s.area).sum;
            if (round % 100 == 0) GC.collect();
        }
        result = x;
    }
}

void main()
{
    auto workers = iota(1, 4).map!(i => new Worker(i)).array;
    foreach (worker; workers) worker.start();
    foreach (i, worker; workers)
    {
        worker.join();
        writefln("%s %016x", i, worker.result);
    }
    int[string] counts;
    foreach (i; 0 .. 20_000) ++counts["w" ~ ((i * 7919) % 97).to!string];
    auto keys = counts.keys;
    keys.sort();
    writeln(keys[0 .. 5], " ", counts[keys[3]], " ", unwound);
    try step(8, 0);
    catch (Failure f) writeln("caught ", f.msg);
    finally writeln("finally");
}
