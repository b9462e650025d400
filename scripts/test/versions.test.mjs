import { expect, test } from 'vitest';
import { generate } from '../versions.mjs';

test('versions: a new version of a package is written wherever the old one stands', () => {
  const versions = { core: '7.0.1', 'mcp-server': '7.0.2', cli: '7.0.3' };
  const files = generate(new Map(Object.entries(versions)));
  const written = files.map(({ path, text }) => [path, text.match(/\b7\.0\.\d\b/g)?.join(' ')]);
  expect(Object.fromEntries(written)).toMatchObject({
    'packages/core/src/client/read-options.ts': '7.0.1',
    'packages/mcp-server/src/server.ts': '7.0.2',
    'packages/mcp-server/server.json': '7.0.2 7.0.2',
    'docker/compose.yaml': '7.0.3',
  });
  expect(written.filter(([, found]) => found === undefined)).toEqual([]);
});

test('site: every guide has its place in the list of site/pages.mjs', async () => {
  await import('../../site/pages.mjs'); // throws where one is missing
});
