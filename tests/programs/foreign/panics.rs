// Threads that work, panic and are joined; panics caught across several frames, with what was dropped on the way; a panic
// in a closure behind a trait object; large matches, which become jump tables. Runs long enough for many layouts.
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Counted(u64);
impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(self.0, Ordering::Relaxed);
    }
}

#[inline(never)]
fn descend(depth: u64, fail_at: u64) -> u64 {
    let held = Counted(1);
    if depth == fail_at {
        panic!("at {}", depth);
    }
    let below = if depth == 0 { 0 } else { descend(depth - 1, fail_at) };
    below + held.0
}

#[inline(never)]
fn step(op: u32, value: u64) -> u64 {
    match op {
        0 => value.wrapping_add(3),
        1 => value.rotate_left(7),
        2 => value ^ 0x9e37_79b9_7f4a_7c15,
        3 => value.wrapping_mul(6364136223846793005),
        4 => value >> 1,
        5 => value.swap_bytes(),
        6 => value.count_ones() as u64,
        7 => !value,
        8 => value.wrapping_sub(1 << 40),
        9 => value | 0x10101,
        10 => panic!("op {}", op),
        _ => value.reverse_bits(),
    }
}

trait Task: Send {
    fn run(&mut self, round: u64) -> Result<u64, String>;
}
struct Machine(u64);
impl Task for Machine {
    fn run(&mut self, round: u64) -> Result<u64, String> {
        for i in 0..400u64 {
            self.0 = step(((self.0 ^ (round + i)) % 10) as u32, self.0);
        }
        if self.0 % 3 == 0 { Err(format!("stuck at {:016x}", self.0)) } else { Ok(self.0) }
    }
}
struct Words(BTreeMap<String, usize>);
impl Task for Words {
    fn run(&mut self, round: u64) -> Result<u64, String> {
        for i in 0..60 {
            *self.0.entry(format!("w{}", (i * 7 + round) % 41)).or_insert(0) += 1;
        }
        Ok(self.0.values().map(|&n| n as u64).sum())
    }
}

fn worker(number: u64, out: mpsc::Sender<(u64, u64, u64)>, shared: Arc<Mutex<Vec<u64>>>) {
    let mut tasks: Vec<Box<dyn Task>> = vec![Box::new(Machine(number + 1)), Box::new(Words(BTreeMap::new()))];
    let (mut sum, mut errors) = (0u64, 0u64);
    for round in 0..250 {
        for task in tasks.iter_mut() {
            match task.run(round) {
                Ok(value) => sum = sum.wrapping_mul(31).wrapping_add(value),
                Err(text) => errors += text.len() as u64,
            }
        }
        let caught = panic::catch_unwind(AssertUnwindSafe(|| descend(20, round % 25)));
        match caught {
            Ok(value) => sum = sum.wrapping_add(value),
            Err(payload) => errors += payload.downcast_ref::<String>().map_or(1000, |s| s.len() as u64),
        }
        if round % 50 == 0 {
            shared.lock().unwrap().push(sum);
        }
    }
    out.send((number, sum, errors)).unwrap();
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let shared = Arc::new(Mutex::new(Vec::new()));
    let (out, results) = mpsc::channel();
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (out, shared) = (out.clone(), shared.clone());
            thread::spawn(move || worker(number, out, shared))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(out);
    let mut all: Vec<_> = results.iter().collect();
    all.sort();
    for (number, sum, errors) in all {
        println!("{} {:016x} {}", number, sum, errors);
    }
    let failed = thread::spawn(|| step(10, 0)).join();
    println!("{}", failed.unwrap_err().downcast_ref::<String>().unwrap());
    let mut total: Vec<u64> = shared.lock().unwrap().clone();
    total.sort();
    println!("{} {:016x} {}", total.len(), total.iter().fold(0u64, |a, b| a.wrapping_mul(3) ^ b), DROPPED.load(Ordering::Relaxed));
}
