import { expect, test } from 'vitest';
import { runQuick } from '../in-process.ts';

const complete = async (...words: string[]): Promise<string[]> => {
  const { stdout, code } = await runQuick(['complete', '--', ...words]);
  expect(code).toBe(0);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
};

test.each([
  ['coun', 'words count'],
  ['store acc', 'words accounts'],
  ['store accounts dis', 'words disable'],
  ['--debug fleet ret', 'words retry'],
  ['help fleet wo', 'words work'],
  ['help export ', 'words'],
  ['list --form', 'words --format'],
  ['list --format n', 'words ndjson'],
  ['list --format=n', 'words --format=ndjson'],
  ['list --format = n', 'words ndjson'],
  ['list --format =', 'words table ndjson csv'],
  ['list --fields sid,talk_m', 'list sid,talk_minutes'],
  ['list --fields=sid,talk_m', 'list --fields=sid,talk_minutes'],
  ['list -n --fol', 'words'],
  ['list -n 5 --fol', 'words --follow'],
  ['report --by campa', 'list campaign campaign_id'],
  ['report --by week,landing', 'list week,landing_page week,landing'],
  ['report --measures calls,talk_s', 'list calls,talk_sum'],
  ['export -o my', 'file'],
  ['fleet work --keys k', 'folder'],
  ['fleet work ', 'file'],
  ['fleet work --keys k ', 'file'],
  ['fleet work job.json ', 'words'],
  ['completion ', 'words bash zsh fish'],
  ['fields talk_m', 'words talk_minutes'],
  ['nosuch ', 'words'],
])('calls complete -- %s offers %s', async (words, offered) => {
  expect((await complete(...words.split(' '))).join(' ')).toBe(offered);
});

test('the first word is a command, and each is explained', async () => {
  const { stdout } = await runQuick(['complete', '--', '']);
  const lines = stdout.trimEnd().split('\n').slice(1);
  expect(lines).toContain('count\tcount the calls that match');
  expect(lines).toContain(
    'fleet\tsync and export many accounts, in one process or on many machines',
  );
  expect(lines.filter((line) => line.startsWith('store'))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('complete\t'))).toEqual([]);
});

test.each(['bash', 'zsh', 'fish'])('the script for %s asks calls complete', async (shell) => {
  const { stdout, code } = await runQuick(['completion', shell]);
  expect([code, stdout.includes('calls complete -- ')]).toEqual([0, true]);
});
