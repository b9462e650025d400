import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { Coverage } from '../law/coverage.ts';
import { checkLaw } from '../law/law.ts';
import { testWarehouse } from '../support.ts';

const sets = rounds(4, 100);
const tally = openDrill({
  name: 'warehouse-answers',
  kind: 'random histories',
  what: 'Random calls and questions, around clock changes and with odd values; DuckDB and plain JavaScript give one answer, order and totals included',
});

test('DuckDB and plain JavaScript give one answer to random questions', async () => {
  const coverage = new Coverage();
  await tally.run(
    () =>
      checkLaw(async () => (await testWarehouse()).warehouse, {
        sets,
        questions: 50,
        seen: (...answered) => coverage.add(...answered),
      }),
    3_600_000,
  );
  tally.add({ runs: coverage.questions - 1 });
  process.stderr.write(`${coverage}\n`);
  // The long form leaves no kind of question and no pair of them to luck.
  expect(coverage.missing(sets < 100 ? 1 : 100, sets < 100 ? 0 : 3)).toEqual([]);
}, 3_600_000);
