import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

describe('count_calls', () => {
  it('names the filter and the source of the number', async () => {
    const server = createServer(fakeClient(fixtureCalls(137)));
    const { structuredContent } = await callTool(server, 'count_calls', {
      from: '2024-01-01',
      to: '2024-01-01',
    });
    expect(structuredContent).toMatchObject({
      source: 'content-range',
      filter: 'date_added:[2024-01-01 00:00:00 TO 2024-01-02 00:00:00}',
    });
    expect(String(structuredContent?.summary)).toContain('from the Content-Range header of a one-row list');
  });
});
