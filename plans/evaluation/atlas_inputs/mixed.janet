# Tables, arrays, closures, strings, loops and fibers: what scripts do.
(var state 12345)
(defn draw [n] (set state (% (* state 16807) 2147483647)) (% state n))

(def Point @{:length (fn [self] (+ (* (self :x) (self :x)) (* (self :y) (self :y))))})
(defn point [x y] (table/setproto @{:x x :y y} Point))

(defn objects [n]
  (var sum 0)
  (for i 0 n
    (def one (point (% i 7) (draw 5)))
    (set sum (+ sum (:length one)))
    (if (and (> (one :x) 3) (not= (one :y) 2)) (put one :x 1)))
  sum)

(defn closures [n]
  (defn counter [step] (var count 0) (fn [& rest] (set count (+ count step (length rest))) count))
  (def all [(counter 1) (counter 2) (counter 3)])
  (var total 0)
  (for i 0 n (set total (+ total (% ((in all (% i 3)) i i) 11))))
  total)

(defn strings [n]
  (def words @[])
  (for i 0 n (array/push words (string (string/from-bytes (+ 97 (draw 26)) (+ 97 (draw 26))) (% i 97))))
  (def text (string/join words " "))
  (def count @{})
  (each word words (put count word (+ 1 (or (get count word) 0))))
  (+ (length text) (length (string/replace-all "a" "1" text)) (length count) (length (filter |(> (length $) 3) words))))

(defn sieve [n]
  (def composite (array/new n))
  (var count 0)
  (for i 2 n
    (unless (get composite i)
      (++ count)
      (var j (* i i))
      (while (< j n) (put composite j true) (+= j i))))
  count)

(defn fibers [n]
  (def walk (fiber/new (fn [] (for i 0 n (yield i)))))
  (var sum 0)
  (for i 0 n (set sum (+ sum (resume walk))))
  sum)

(var total 0)
(for round 0 9 (set total (+ total (objects 12000) (closures 40000) (strings 6000) (sieve 30000) (fibers 20000))))
(print total)
