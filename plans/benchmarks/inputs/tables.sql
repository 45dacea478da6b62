-- Inserts, indexes, joins, aggregates, updates, window functions and a recursive query over generated rows.
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, town INTEGER, born INTEGER);
CREATE TABLE town(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);
CREATE TABLE letter(sender INTEGER, receiver INTEGER, day INTEGER, text TEXT);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)
  INSERT INTO town SELECT i, 'town' || (i * 7919 % 500), i * 104729 % 90001 FROM n;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
  INSERT INTO person SELECT i, 'p' || (i * 48271 % 65537), 1 + i * 69621 % 500, 1900 + i * 16807 % 120 FROM n;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
  INSERT INTO letter SELECT 1 + i * 40692 % 100000, 1 + i * 40014 % 100000, i * 3571 % 3650,
                            substr('the quick brown fox jumps over the lazy dog', 1 + i % 30, 12) || i FROM n;
CREATE INDEX letter_sender ON letter(sender, day);
CREATE INDEX person_town ON person(town);
SELECT t.name, count(*), avg(p.born), max(l.day)
  FROM letter l JOIN person p ON p.id = l.sender JOIN town t ON t.id = p.town
  WHERE l.day BETWEEN 100 AND 3000 GROUP BY t.id ORDER BY count(*) DESC, t.name LIMIT 10;
SELECT count(*), sum(length(text)) FROM letter WHERE text LIKE '%fox%9%';
SELECT town, born, total(born) OVER (PARTITION BY town ORDER BY born, id ROWS 5 PRECEDING) AS w
  FROM person ORDER BY w DESC, town, born LIMIT 5;
UPDATE person SET name = upper(name), born = born + 1 WHERE town % 3 = 0;
DELETE FROM letter WHERE day % 7 = 3;
WITH RECURSIVE reach(id, depth) AS (
  VALUES(1, 0) UNION SELECT l.receiver, r.depth + 1 FROM reach r JOIN letter l ON l.sender = r.id WHERE r.depth < 9)
  SELECT count(DISTINCT id), max(depth) FROM reach;
SELECT count(*), sum(day) FROM letter a WHERE EXISTS (
  SELECT 1 FROM letter b WHERE b.sender = a.receiver AND b.day > a.day);
SELECT count(*) FROM (SELECT name FROM person INTERSECT SELECT upper(name) FROM person);
