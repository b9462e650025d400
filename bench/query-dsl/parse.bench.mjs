// Parsing 1, 3 and 50 clauses against JSON.parse of the same tree and against other parsers; ten
// thousand clauses against one thousand; a matcher for 50 clauses against one for 3.
import { matcher, parse, safeParse } from '@call-attribution/query-dsl';
import rsql from '@rsql/parser';
import { parse as graphql } from 'graphql';
import jsep from 'jsep';
import liqe from 'liqe';
import lucene from 'lucene';
import { QueryParser } from 'lucene-kit';
import luceneQueryParser from 'lucene-query-parser';
import { makeFilter } from './filters.mjs';
import { measure } from './measure.mjs';

const variants = 8;

/**
 * @param {string} what
 * @param {number} value
 * @param {number} limit
 * @param {'most' | 'least'} side
 */
function limit(what, value, limit, side) {
  const held = side === 'most' ? value <= limit : value >= limit;
  console.log(
    `${held ? 'held    ' : 'not held'} ${what}: ${value.toFixed(2)} (at ${side} ${limit})`,
  );
}

/** @param {number} nanoseconds */
const time = (nanoseconds) =>
  nanoseconds < 10_000 ? `${nanoseconds.toFixed(0)} ns` : `${(nanoseconds / 1000).toFixed(1)} µs`;

const rangeParsers = ['liqe', 'lucene', 'lucene-query-parser', 'lucene-kit'];
for (const count of [1, 3, 50]) {
  const filters = Array.from({ length: variants }, (_, seed) => makeFilter(count, seed));
  const trees = filters.map(({ ours }) => JSON.stringify(parse(ours)));
  // The mistake is at the end, so that all of the text has to be read before it is found.
  const wrong = filters.map(({ ours }) => ours.replace(/.$/, '!'));
  const at = (/** @type {number} */ index) => filters[index % variants];
  const times = measure({
    parse: (index) => parse(at(index).ours),
    'safeParse, passing': (index) => safeParse(at(index).ours).ok,
    'safeParse, one mistake': (index) => !safeParse(wrong[index % variants]).ok,
    'JSON.parse of the tree': (index) => JSON.parse(trees[index % variants]),
    liqe: (index) => liqe.parse(at(index).liqe),
    lucene: (index) => lucene.parse(at(index).lucene),
    'lucene-query-parser': (index) => luceneQueryParser.parse(at(index).lucene),
    'lucene-kit': (index) => new QueryParser(at(index).lucene).toAST(),
    '@rsql/parser': (index) => rsql.parse(at(index).rsql),
    jsep: (index) => jsep(at(index).jsep),
    graphql: (index) => graphql(at(index).graphql, { noLocation: true }),
  });
  console.log(`\n${count} clauses, ${at(0).ours.length} characters`);
  for (const [name, value] of Object.entries(times)) {
    console.log(
      `  ${name.padEnd(24)} ${time(value).padStart(10)}  ${(value / times.parse).toFixed(1).padStart(7)} x`,
    );
  }
  limit(
    'parse / JSON.parse of the same tree',
    times.parse / times['JSON.parse of the tree'],
    1,
    'most',
  );
  const nearest = Math.min(...rangeParsers.map((name) => times[name]));
  limit('nearest parser of ranges / parse', nearest / times.parse, 10, 'least');
}

const [thousand, tenThousand] = [1_000, 10_000].map((count) => makeFilter(count, 1).ours);
const long = measure(
  { thousand: () => parse(thousand), tenThousand: () => parse(tenThousand) },
  15,
);
console.log(`\n1,000 clauses ${time(long.thousand)}, 10,000 clauses ${time(long.tenThousand)}`);
limit(
  '10,000 clauses / ten times 1,000 clauses',
  long.tenThousand / (10 * long.thousand),
  1.5,
  'most',
);

const records = Array.from({ length: 512 }, (_, index) => ({
  date_added: `2024-01-${String(1 + (index % 31)).padStart(2, '0')} ${String(index % 24).padStart(2, '0')}:00:00`,
  talk_minutes: String((index % 90) / 10),
  channel: index % 5 === 0 ? 'Call Extension' : 'Tracker',
}));
const three = matcher(parse(makeFilter(3, 2).ours));
const fifty = matcher(parse(makeFilter(50, 2).ours));
const run = measure({
  three: (index) => three(records[index % 512]),
  fifty: (index) => fifty(records[index % 512]),
});
console.log(
  `\nmatcher, for one record: 3 clauses ${time(run.three)}, 50 clauses ${time(run.fifty)}`,
);
limit('matcher for 50 / for 3 clauses', run.fifty / run.three, 1.5, 'most');
