import { readdirSync, readFileSync } from 'node:fs';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer, tools } from '../src/index.ts';
import { fakeClient } from './support/fake-client.ts';

const folder = new URL('../skills/', import.meta.url);

/** What the skills leave to be found out. */
const found: Readonly<Record<string, string>> = {
  from: '2026-09-01',
  to: '2026-09-30',
  'before from': '2026-08-01',
  'before to': '2026-08-31',
  group: 'channel',
  sid: fixtureCalls(1)[0]?.sid ?? '',
};

/** The calls that a text names: a tool, and its arguments as JSON. */
const callsIn = (text: string) =>
  [...text.matchAll(/`([a-z_]+) (\{.*?\})`/g)].map(([, tool = '', args = '']) => {
    const written = args.replace(/<([a-z ]+)>/g, (_, name: string) => found[name] ?? 'not known');
    return [tool, JSON.parse(written) as Record<string, unknown>] as const;
  });

describe.each(readdirSync(folder))('the skill %s', (name) => {
  const text = readFileSync(new URL(`${name}/SKILL.md`, folder), 'utf8');
  const calls = callsIn(text);
  const server = createServer(fakeClient(fixtureCalls(200)));

  it('is called like its folder, and names the calls to make', () => {
    expect(text).toContain(`\nname: ${name}\n`);
    expect(calls.length).toBeGreaterThan(0);
  });

  it.each(calls)('names a call that is answered: %s %j', async (tool, args) => {
    const { isError, content } = await callTool(server, tool, args);
    expect(isError, content[0]?.text).toBeUndefined();
    expect(content[0]?.text).not.toContain('INCOMPLETE');
  });

  it('names no tool but in a call', () => {
    const rest = text.replace(/`[a-z_]+ \{.*?\}`/g, '');
    for (const tool of tools) expect(rest).not.toContain(tool.name);
  });
});
