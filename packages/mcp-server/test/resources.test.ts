import { readFileSync } from 'node:fs';
import { fields } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { parseCondition } from '@call-attribution/questions';
import { describe, expect, it } from 'vitest';
import { createServer } from '../src/index.ts';
import { RpcError } from '../src/protocol/messages.ts';
import { fakeClient } from './support/fake-client.ts';
import { request } from './support/handlers.ts';

const calls = fixtureCalls(3);
const server = createServer(fakeClient(calls));
const read = async (uri: string, of = server) =>
  (
    (await request(of, 'resources/read', { uri })).contents as {
      text: string;
      mimeType: string;
      uri: string;
    }[]
  )[0];

describe('resources: the server', () => {
  it('lists three documents and the page of the app, and each can be read', async () => {
    const { resources } = (await request(server, 'resources/list')) as unknown as {
      resources: { uri: string; mimeType: string }[];
    };
    expect(resources.map(({ uri }) => uri)).toEqual([
      'calls://fields',
      'calls://conditions',
      'calls://assumptions',
      'ui://calls/answer',
    ]);
    for (const { uri, mimeType } of resources)
      expect(await read(uri)).toMatchObject({
        uri,
        mimeType,
        text: expect.stringMatching(uri.startsWith('ui:') ? /^<!doctype html>/ : /^# /),
      });
  });

  it('describes every field of the version in calls://fields, and says what is masked', async () => {
    const text = (await read('calls://fields'))?.text ?? '';
    for (const spec of fields)
      expect(text.includes(`\`${spec.name}\``)).toBe(spec.v3 !== null && spec.type !== 'null');
    expect(text).toContain('`ani` (masked)');
    expect(text).toContain('5 All Organic Search');
    const revealed = createServer(fakeClient(calls), { reveal: ['caller'] });
    expect((await read('calls://fields', revealed))?.text).toContain('- `ani`:');
  });

  it('shows only examples that parse in calls://conditions', async () => {
    const text = (await read('calls://conditions'))?.text ?? '';
    const examples = [...text.matchAll(/^- `([^`]+)`$/gm)].map((match) => match[1] ?? '');
    expect(examples).toHaveLength(3);
    for (const example of examples) expect(parseCondition(example)).toMatchObject({ ok: true });
  });

  it('names only points of docs/assumptions.md in calls://assumptions', async () => {
    const known = readFileSync(new URL('../../../docs/assumptions.md', import.meta.url), 'utf8');
    const ids = [...((await read('calls://assumptions'))?.text ?? '').matchAll(/^- (A\d\d) /gm)].map(
      (match) => match[1],
    );
    expect(ids.length).toBeGreaterThan(5);
    for (const id of ids) expect(known).toContain(`| ${id} |`);
  });

  it('returns for calls://call/{sid} what get_call returns', async () => {
    const sid = calls[1]?.sid ?? '';
    const found = await read(`calls://call/${encodeURIComponent(sid)}`);
    expect(JSON.parse(found?.text ?? '')).toMatchObject({ call: { sid } });
    expect(found?.text).not.toContain(calls[1]?.ani);
  });

  it.each([
    'calls://nothing',
    'calls://call/',
    'calls://call/%E0%A4%A',
    'file:///etc/passwd',
    'calls://call/no-such-call',
  ])('does not find %s', async (uri) => {
    await expect(read(uri)).rejects.toMatchObject({ code: -32002, data: { uri } });
  });
});

describe('prompts: the server', () => {
  it('lists three, and each can be read with its required arguments', async () => {
    const { prompts } = (await request(server, 'prompts/list')) as unknown as {
      prompts: { name: string; arguments: { name: string; required: boolean }[] }[];
    };
    expect(prompts.map(({ name }) => name)).toEqual([
      'attribution_audit',
      'conversion_eligibility',
      'compare_periods',
    ]);
    for (const prompt of prompts) {
      const args = Object.fromEntries(
        prompt.arguments.filter(({ required }) => required).map(({ name }) => [name, '2026-11-01']),
      );
      const read = (await request(server, 'prompts/get', {
        name: prompt.name,
        arguments: args,
      })) as unknown as {
        messages: { role: string; content: { text: string } }[];
      };
      expect(read.messages[0]?.content.text).not.toContain('undefined');
      expect(read.messages[0]?.role).toBe('user');
    }
  });

  it('says which argument is missing', async () => {
    await expect(
      request(server, 'prompts/get', { name: 'attribution_audit', arguments: { from: '2026-11-01' } }),
    ).rejects.toThrow('needs "to"');
    await expect(request(server, 'prompts/get', { name: 'audit' })).rejects.toThrow(RpcError);
  });
});

describe('completion: the server', () => {
  const complete = async (name: string, value: string) =>
    (await request(server, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'compare_periods' },
      argument: { name, value },
    })) as unknown as {
      completion: { values: string[]; total: number };
    };

  it('suggests fields and parts of the time, first those that start with what was typed', async () => {
    expect((await complete('group_by', 'da')).completion.values.slice(0, 2)).toEqual(['day', 'date_added']);
    expect((await complete('group_by', 'campaign')).completion.values).toContain('ppc_campaign');
    expect((await complete('from', '2026')).completion.values).toEqual([]);
  });

  it('suggests the known values of a field', async () => {
    expect((await complete('ppc_status', 'proc')).completion.values).toEqual(['Processed', 'Not Processed']);
  });

  it('refuses an unknown prompt and a malformed request', async () => {
    await expect(
      request(server, 'completion/complete', {
        ref: { type: 'ref/prompt', name: 'x' },
        argument: { name: 'a', value: '' },
      }),
    ).rejects.toThrow('There is no prompt');
    await expect(request(server, 'completion/complete', {})).rejects.toThrow('Invalid params');
  });
});
