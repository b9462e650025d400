import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

async function check(q: string): Promise<Record<string, unknown>> {
  const { structuredContent } = await callTool(createServer(fakeClient([])), 'check_filter', { q });
  return structuredContent as Record<string, unknown>;
}

describe('check_filter', () => {
  it('explains a valid filter', async () => {
    expect(await check('talk_minutes:[2 TO *],inc_gce:1')).toEqual({
      summary:
        'The filter is valid: talk_minutes from 2 (included); calls from call extensions are included.',
      valid: true,
      filter: 'talk_minutes:[2 TO *],inc_gce:1',
      meaning: ['talk_minutes from 2 (included)', 'calls from call extensions are included'],
    });
  });

  it('fixes a filter that is nearly valid', async () => {
    const result = await check('talk_minutes:[2 to *]');
    expect(result.valid).toBe(false);
    expect(result.fixed).toBe('talk_minutes:[2 TO *]');
  });
});
