import { metricsText, statusReply } from '@call-attribution/node-stream/status';
import { expect, test } from 'vitest';

test('other paths have no reply, and label values are escaped', async () => {
  const source = { ready: () => null, metrics: () => '' };
  expect(await statusReply('/healthz', source)).toMatchObject({ status: 200, body: 'ok\n' });
  expect(await statusReply('/health', source)).toBeNull();
  const samples = [{ value: 1, labels: { a: 'x"\\\n' } }];
  expect(metricsText([{ name: 'n', type: 'gauge', help: 'N.', samples }])).toBe(
    '# HELP n N.\n# TYPE n gauge\nn{a="x\\"\\\\\\n"} 1\n',
  );
});
