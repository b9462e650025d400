import { testKeys } from '@call-attribution/sandbox';
import { describe, expect, test } from 'vitest';
import { raw } from './raw.ts';
import { openWorld } from './world.ts';

const { url, sms } = await openWorld();
const { accessKey, secretKey } = testKeys('101');
const good = `action=sms.get_numbers&access_key=${accessKey}&secret_access_key=${secretKey}`;

describe('the SMS listing', () => {
  test('[R80][R83][R84][R85][R86] is XML with result, description and numbers, in this order', async () => {
    const response = await sms(good);
    expect([response.status, response.headers['content-type']]).toEqual([
      200,
      'text/xml; charset=UTF-8',
    ]);
    expect(response.body).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>/);
    const order =
      /<response>\s*<result><\/result>\s*<result_description>\[2\] Number\(s\) Returned<\/result_description>\s*<data>([\s\S]*)<\/data>\s*<\/response>/;
    const data = order.exec(response.body)?.[1] ?? '';
    expect(
      [...data.matchAll(/<number sms_enabled="(.)" url="([^"]+)">(\d+)<\/number>/g)].map((m) =>
        m.slice(1),
      ),
    ).toEqual([
      ['1', 'https://listener.example/sms?a=1&amp;b=&quot;2&quot;', '5555550100'],
      ['0', 'https://listener.example/', '5555550101'],
    ]);
  });

  test.each([
    ['', /action/],
    [good.replace('sms.get_numbers', 'sms.other'), /action/],
    [good.replace(/&access_key=[^&]*/, ''), /access_key/],
    [good.replace(/&secret_access_key=.*/, ''), /secret_access_key/],
    [`${good}x`, /credentials/],
    [`${good}&action=sms.get_numbers`, /twice/],
    [`${good}&format=json`, /format/],
  ])('[R81][R82][R95] refuses "%s" in XML with status 200', async (query, reason) => {
    const response = await sms(query);
    expect(response.status).toBe(200);
    expect(response.body).toContain('<result>failed</result>');
    expect(/<result_description>(.*)<\/result_description>/.exec(response.body)?.[1]).toMatch(
      reason,
    );
    expect(response.body).not.toContain(secretKey);
  });

  test('[R87] accepts GET and a form POST, and no other method', async () => {
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': String(good.length),
    };
    const posted = await raw(url, '/ibp_api.php', { method: 'POST', headers, body: good });
    expect(posted.body).toBe((await sms(good)).body);
    const put = await raw(url, `/ibp_api.php?${good}`, { method: 'PUT' });
    expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });

  test('[R87] reads a form in chunks or without any length, and refuses one that is too long', async () => {
    const post = async (query: string, length: Record<string, string>, body = '') => {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...length };
      return raw(url, `/ibp_api.php${query}`, { method: 'POST', headers, body });
    };

    const chunked = { 'Transfer-Encoding': 'chunked' };
    const inChunks = (text: string): string =>
      `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const { body: expected } = await sms(good);
    expect((await post('', chunked, inChunks(good))).body).toBe(expected);
    expect((await post(`?${good}`, {})).body).toBe(expected);
    const long = `${good}&x=${'y'.repeat(9_000)}`;
    for (const [length, body] of [
      [chunked, inChunks(long)],
      [{ 'Content-Length': String(long.length) }, long],
    ] as const) {
      const answer = await post('', length, body);
      expect([answer.status, answer.body]).toEqual([
        200,
        expect.stringContaining('longer than 8192 bytes'),
      ]);
    }
  });

  test('[R88] shows the listener url and sends nothing to it', async () => {
    const other = testKeys('103');
    const response = await sms(
      `action=sms.get_numbers&access_key=${other.accessKey}&secret_access_key=${other.secretKey}`,
    );
    expect(response.body).toContain('[0] Number(s) Returned');
  });
});
