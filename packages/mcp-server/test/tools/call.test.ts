import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

const calls = fixtureCalls(30);

describe('a tool call', () => {
  it.each([
    ['list_calls', {}],
    ['get_call', { sid: calls[0]?.sid }],
    ['count_calls', {}],
    ['summarize_calls', {}],
    ['list_sms_numbers', {}],
    ['check_filter', { q: 'x' }],
  ])('%s returns its structured content word for word as one text block', async (name, args) => {
    const { content, structuredContent } = await callTool(createServer(fakeClient(calls)), name, args);
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  });

  it('suggests the tool that was probably meant', async () => {
    const result = await callTool(createServer(fakeClient([])), 'list_call');
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain('Did you mean list_calls?');
  });
});
