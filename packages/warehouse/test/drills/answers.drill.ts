import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { checkLaw, lawGroups, lawMeasures } from '../law.ts';

const runs = rounds(10, 250);
const tally = openDrill({
  name: 'warehouse-answers',
  kind: 'random histories',
  what: 'Random calls and questions, around clock changes and with odd values; DuckDB and plain JavaScript give one answer, order and totals included',
});

test('DuckDB and plain JavaScript give one answer to random questions', async () => {
  const seen = new Map<string, number>();
  const count = tally.counted(async (names: readonly string[]) => {
    for (const name of names) seen.set(name, (seen.get(name) ?? 0) + 1);
  });
  const asked: (readonly string[])[] = [];
  await checkLaw(runs, 20, ({ groupBy = [], measures = [] }) => {
    asked.push([...groupBy, ...measures.map(String)]);
  });
  for (const names of asked) await count(names);
  // In the long form every measure and group is asked for at least 100 times.
  for (const name of [...lawGroups, ...lawMeasures])
    expect(seen.get(name) ?? 0, name).toBeGreaterThanOrEqual(runs < 250 ? 1 : 100);
}, 3_600_000);
