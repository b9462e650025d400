import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../workspace.mjs';

test('the image runs as an ordinary user in a fixed version, and compose closes the container', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'));
  const image = readFileSync(join(root, 'docker/Dockerfile'), 'utf8');
  expect(image).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-bookworm-slim@sha256:[\da-f]{64}$/m);
  for (const [, base] of image.matchAll(/^FROM (\S+)/gm)) expect(base).toMatch(/^\$\{NODE_IMAGE\}$/);
  // Each package comes from the lockfile, by a pnpm whose hash is known.
  expect(image).toMatch(/pinned-pnpm\.sh.*\n.*pnpm install --frozen-lockfile/);
  expect(image).toMatch(/deploy --prod --frozen-lockfile/);
  expect(image).not.toMatch(/\b(?:npx|corepack)\b|\bnpm (?:install|i|ci|exec)\b/);
  expect(image).toContain(`call-attribution/calls:${version} `);
  const sent = readFileSync(join(root, 'docker/Dockerfile.dockerignore'), 'utf8').split('\n').slice(1);
  expect(sent[0]).toBe('*');
  expect(sent.filter((line) => /^!.*(?:secret|\.git$|node_modules)/.test(line))).toEqual([]);
  expect(image.match(/^USER .*/gm)?.at(-1)).toBe('USER 1000:1000');
  expect(image).not.toMatch(/^(?:ENV|ARG) .*(?:KEY|PASSWORD|TOKEN)/m);
  const compose = readFileSync(join(root, 'docker/compose.yaml'), 'utf8');
  for (const line of ['read_only: true', 'cap_drop: [ALL]', 'user: "1000:1000"', 'no-new-privileges:true'])
    expect(compose).toContain(line);
  expect(compose).not.toMatch(/^ *CALLS_\w*(?:KEY|PASSWORD): /m);
});
