import { fixtureCalls } from '@call-attribution/core/testing';
import { parseCondition } from '@call-attribution/questions';
import { describe, expect, it } from 'vitest';
import { createServer } from '../src/index.ts';
import { fakeClient } from './support/fake-client.ts';
import { request } from './support/handlers.ts';

const calls = fixtureCalls(3);
const server = createServer(fakeClient(calls));
const read = async (uri: string) =>
  (
    (await request(server, 'resources/read', { uri })).contents as {
      text: string;
      mimeType: string;
      uri: string;
    }[]
  )[0];

describe('resources: the server', () => {
  it('lists its documents and the page of the app, and each can be read', async () => {
    const { resources } = (await request(server, 'resources/list')) as unknown as {
      resources: { uri: string; mimeType: string }[];
    };
    expect(resources.map(({ uri }) => uri)).toEqual(['calls://conditions', 'ui://calls/answer']);
    for (const { uri, mimeType } of resources)
      expect(await read(uri)).toMatchObject({
        uri,
        mimeType,
        text: expect.stringMatching(uri.startsWith('ui:') ? /^<!doctype html>/ : /^# /),
      });
  });

  it('says that the page of the app is missing where the package has not been built', async () => {
    const { text } = (await read('ui://calls/answer')) ?? {};
    expect(text).toContain('the page is made when this package is built');
  });

  it('shows only examples that parse in calls://conditions', async () => {
    const text = (await read('calls://conditions'))?.text ?? '';
    const examples = [...text.matchAll(/^- `([^`]+)`$/gm)].map((match) => match[1] ?? '');
    expect(examples).toHaveLength(3);
    for (const example of examples) expect(parseCondition(example)).toMatchObject({ ok: true });
  });

  it.each(['calls://nothing', 'calls://fields', 'calls://call/%E0%A4%A', 'file:///etc/passwd'])(
    'does not find %s',
    async (uri) => {
      await expect(read(uri)).rejects.toMatchObject({ code: -32602, data: { uri } });
    },
  );
});
