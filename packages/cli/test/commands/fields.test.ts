import { expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();

test('calls fields searches names and meanings without a server', async () => {
  const env = { CALLS_BASE_URL: '', CALLS_ACCESS_KEY: '' };
  const found = await stage.quick(['fields', 'gclid'], { env });
  expect(found).toMatchObject({ code: 0, stderr: '' });
  expect(found.stdout).toContain('ppc_gclid');
  const names = JSON.parse((await stage.quick(['fields', '--json'], { env })).stdout).map(
    (field: { name: string }) => field.name,
  );
  expect(names).toContain('date_added');
  expect(await stage.quick(['fields', 'zzz'], { env })).toMatchObject({ code: 6, stdout: '' });
  expect((await stage.quick(['fields', 'missed'], { env })).stderr).toMatch(
    /missed is a measure of calls report: .*\n.*missed is a group or condition of calls report: /,
  );
  expect((await stage.quick(['fields', 'campaing'], { env })).stderr).toContain(
    'did you mean campaign?',
  );
});
