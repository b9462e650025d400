import { apiKeys, bearerToken, ResponseError } from '@call-attribution/core';
import { type Fault, faults } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { failure, serve } from './support.ts';

const xml = (inner: string, head = '<?xml version="1.0" encoding="UTF-8"?>'): Fault =>
  faults.replace(200, `${head}<response>${inner}</response>`, { 'content-type': 'text/xml' });

const listing = (count: number | string, numbers: string): string =>
  `<result/><result_description>[${count}] Number(s) Returned</result_description><data>${numbers}</data>`;

const data = (number: string): string => `<data><number>${number}</number></data>`;

async function read(fault: Fault) {
  const { server, client } = await serve();
  server.next(fault);
  return client.listSmsNumbers();
}

describe('listSmsNumbers', () => {
  test('it sends the keys in the query and reads number, flag and URL', async () => {
    const { server, client } = await serve();
    expect(await client.listSmsNumbers()).toEqual([
      { number: '0015555550100', smsEnabled: true, url: 'https://listener.example.com/?a=1&b=2' },
    ]);
    expect(server.requests[0]?.url).toBe(
      '/ibp_api.php?action=sms.get_numbers&access_key=key-one&secret_access_key=key-two',
    );
    expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain('access_key');
  });

  test('with POST, it sends the keys in a form and not in the URL', async () => {
    const { server, client } = await serve();
    await client.listSmsNumbers({ method: 'POST' });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/ibp_api.php',
      body: 'action=sms.get_numbers&access_key=key-one&secret_access_key=key-two',
    });
  });

  test.each(['007', '+15555550100', '1e5', '0x1F', '00', '12345678901234567890', '1.0', 'true'])(
    'the number %s stays text',
    async (number) => {
      const [one] = await read(
        xml(listing(1, `<number sms_enabled="1" url="">${number}</number>`)),
      );
      expect(one).toEqual({ number, smsEnabled: true, url: '' });
    },
  );

  test.each([
    ['no numbers', listing(0, ''), []],
    [
      'no numbers and no data',
      '<result/><result_description>[0] Number(s) Returned</result_description>',
      [],
    ],
    ['one', listing(1, '<number>1</number>'), ['1']],
    ['many', listing(3, '<number>1</number><number>2</number><number>3</number>'), ['1', '2', '3']],
    ['spaces around them', listing(1, '\n  <number>\n 1 </number>\n'), ['1']],
    ['character data', listing(1, '<number><![CDATA[15]]></number>'), ['15']],
    [
      'result success',
      listing(1, '<number>1</number>').replace('<result/>', '<result>Success</result>'),
      ['1'],
    ],
    ['no word on how many', '<result/><data><number>1</number></data>', ['1']],
    ['no word on an empty list', '<result/><data/>', []],
    [
      'an empty list of a success',
      '<result>success</result><result_description>Done</result_description><data/>',
      [],
    ],
    [
      'a count without brackets',
      '<result/><result_description>1 Number(s)</result_description><data><number>1</number></data>',
      ['1'],
    ],
    [
      'a count at the end',
      '<result/><result_description>Numbers returned: 1</result_description><data><number>1</number></data>',
      ['1'],
    ],
    [
      'comments with apostrophes',
      "<!-- don't --><data><number>1</number><!-- it's <?x?> not --><number>2</number></data>",
      ['1', '2'],
    ],
  ])('it reads %s', async (_, inner, numbers) => {
    expect((await read(xml(inner))).map((one) => one.number)).toEqual(numbers);
  });

  test.each([
    ['1', true],
    ['Yes', true],
    ['true', true],
    ['0', false],
    ['no', false],
    ['perhaps', null],
    [undefined, null],
  ])('the flag %j reads as %j', async (flag, expected) => {
    const attribute = flag === undefined ? '' : ` sms_enabled="${flag}"`;
    const [one] = await read(xml(listing(1, `<number${attribute}>1</number>`)));
    expect([one?.smsEnabled, one?.url]).toEqual([expected, null]);
  });

  test('a document type is accepted, and its declarations do no harm', async () => {
    const head =
      '<?xml version="1.0"?><!DOCTYPE response [<!ELEMENT response (result,result_description,data)>]>';
    expect(await read(xml(listing(1, '<number>1</number>'), head))).toHaveLength(1);
  });

  test.each([
    ['a count that is too high', listing(2, '<number>1</number>'), 'unexpected_shape', 4],
    ['a count that is too low', listing(0, '<number>1</number>'), 'unexpected_shape', 4],
    [
      'failed',
      '<result>failed</result><result_description>Invalid keys</result_description>',
      'error_body',
      1,
    ],
    ['INVALID ACCOUNT', '<result>INVALID ACCOUNT</result>', 'error_body', 1],
    ['nothing', '', 'unexpected_shape', 4],
    ['two lists of numbers', `<result/>${data('1')}${data('2')}`, 'unexpected_shape', 4],
    [
      'two lists of numbers, one counted',
      `${listing(1, '<number>1</number>')}${data('2')}`,
      'unexpected_shape',
      4,
    ],
    ['two descriptions', `${listing(0, '')}${listing(0, '')}`, 'unexpected_shape', 4],
    [
      'numbers one level down',
      '<result/><data><numbers><number>1</number></numbers></data>',
      'unexpected_shape',
      4,
    ],
    [
      'numbers outside of the data',
      `<result/>${data('1')}<number>2</number>`,
      'unexpected_shape',
      4,
    ],
    [
      'a number within a number',
      '<result/><data><number>1<number>2</number></number></data>',
      'unexpected_shape',
      4,
    ],
    [
      'a number in another case',
      '<result/><data><number>1</number><Number>2</Number></data>',
      'unexpected_shape',
      4,
    ],
    [
      'a number in a namespace',
      '<result/><data><a:number>1</a:number></data>',
      'unexpected_shape',
      4,
    ],
    [
      'a number whose digits are in an element',
      '<result/><data><number><value>1</value></number></data>',
      'unexpected_shape',
      4,
    ],
    [
      'a count without brackets that differs',
      `<result/><result_description>2 Number(s)</result_description>${data('1')}`,
      'unexpected_shape',
      4,
    ],
    [
      'a reason with an empty list',
      '<result/><result_description>Invalid access key</result_description><data/>',
      'error_body',
      1,
    ],
    [
      'a reason without a list',
      '<result_description>Invalid access key</result_description>',
      'error_body',
      1,
    ],
  ] as const)('%s is an error', async (_, inner, code, attempts) => {
    const { client } = await serve({ faults: () => xml(inner) });
    await expect(client.listSmsNumbers()).rejects.toMatchObject({ code, attempts });
  });

  test('the error says why the listing failed', async () => {
    expect(String(await failure(read({ smsFailed: '[5555550100] Unregistered' })))).toBe(
      'ResponseError: The SMS listing failed (failed: [[number]] …). It expects the access key and the secret key of the account; a bearer token does not work here.',
    );
  });

  const whole = `<?xml version="1.0"?><response>${listing(2, '<number>1</number><number>2</number>')}</response>`;
  test.each(Array.from({ length: whole.length - 1 }, (_, i) => i + 1).filter((i) => i % 9 === 0))(
    'a document cut after %i characters is an error',
    async (length) => {
      const { client } = await serve({
        faults: () => faults.replace(200, whole.slice(0, length), { 'content-type': 'text/xml' }),
      });
      expect(await failure(client.listSmsNumbers())).toBeInstanceOf(ResponseError);
    },
  );

  test.each([
    [
      'an entity bomb',
      '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]>',
    ],
    ['an outside entity', '<!DOCTYPE r [<!ENTITY d SYSTEM "file:///etc/hostname">]>'],
  ])('%s does no harm', async (_, head) => {
    const { client } = await serve({ faults: () => xml(listing(1, '<number>&d;</number>'), head) });
    const result = await client.listSmsNumbers().catch((error: unknown) => error);
    if (result instanceof ResponseError) expect(result.code).toBe('unexpected_shape');
    else expect(JSON.stringify(result).length).toBeLessThan(2000);
  });

  test.each([
    ['the name of a prototype', '<__proto__><number>1</number></__proto__>'],
    ['the name of a constructor', '<constructor/>'],
    ['an attribute with the name of a prototype', '<number __proto__="1">1</number>'],
    ['an entity of HTML', '<number>1&nbsp;</number>'],
    ['an entity of HTML in an attribute', '<number url="&nbsp;">1</number>'],
    ['a bare ampersand', '<number>1 & 2</number>'],
    ['half a character', '<number>&#xD83D;</number>'],
    ['a reference past the last character', '<number>&#x110000;</number>'],
    ['a control character', '<number>&#0;</number>'],
    ['a value without quotes', '<number url=x>1</number>'],
    ['an attribute twice', '<number url="a" url="b">1</number>'],
    ['a comment without end', '<number>1</number><!-- '],
    ['character data without end', '<number><![CDATA[1</number>'],
    ['an element that is not closed', '<number>1'],
    ['crossed elements', '<a><number>1</a></number>'],
    ['half a mark', '<!- c --><number>1</number>'],
    [
      'instructions with apostrophes, between which the parser overlooks a number,',
      "<number>1</number><?note don't ?><number>2</number><?note it's ?><number>3</number>",
    ],
    ['a declaration around a number', '<!ELEMENT <number>2</number>>'],
    ['a document type around a number', '<!DOCTYPE a [<number>2</number>]><number>1</number>'],
    ['a second document', '</data></response><response><data>'],
    ['text after the document', '</data></response>x<response><data>'],
    ['10,000 levels', `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
  ])('%s is refused', async (_, inner) => {
    const { client } = await serve({ faults: () => xml(`<result/><data>${inner}</data>`) });
    await expect(client.listSmsNumbers({ retry: { attempts: 1 } })).rejects.toMatchObject({
      code: 'unexpected_shape',
    });
  });

  test.each([
    ['a login page', { html: true }, 'wrong_content_type'],
    ['JSON', faults.replace(200, '{"error":"no"}'), 'unexpected_shape'],
    [
      'CSV',
      faults.replace(200, 'number,url\n1,x', { 'content-type': 'text/csv' }),
      'unexpected_shape',
    ],
    ['no body', faults.replace(200), 'unexpected_shape'],
    [
      'another root',
      faults.replace(200, '<data><number>1</number></data>', { 'content-type': 'text/xml' }),
      'unexpected_shape',
    ],
    [
      'broken UTF-8',
      faults.replace(200, '<response>', { 'content-type': 'text/xml' }),
      'unexpected_shape',
    ],
    ['401', { status: 401 }, 'unauthorized'],
    ['a body over the cap', { bomb: 90_000_000 }, 'body_too_large'],
  ])('%s is an error', async (_, fault, code) => {
    const { client } = await serve({ faults: () => fault });
    await expect(client.listSmsNumbers()).rejects.toMatchObject({ code });
  });

  test('numeric character references are characters', async () => {
    const number =
      '<number sms_enabled="1" url="https://l.example/?a=1&#38;b=&#x32;">&#43;1&amp;#48;</number>';
    expect(await read(xml(listing(1, number)))).toEqual([
      { number: '+1&#48;', smsEnabled: true, url: 'https://l.example/?a=1&b=2' },
    ]);
  });

  test('a hundred thousand numbers are read', async () => {
    const many = Array.from(
      { length: 100_000 },
      (_, i) => `<number sms_enabled="1" url="https://l.example/${i}">${i}</number>`,
    );
    expect(await read(xml(listing(many.length, many.join(''))))).toHaveLength(100_000);
  });

  test('with a bearer token, it needs keys as well', async () => {
    const { client } = await serve({}, { auth: bearerToken('t') });
    await expect(client.listSmsNumbers()).rejects.toMatchObject({ code: 'invalid_credentials' });
    const both = await serve(
      {},
      { auth: bearerToken('t'), legacyAuth: apiKeys('a', 'b'), version: 'v2' },
    );
    expect(await both.client.listSmsNumbers()).toHaveLength(1);
  });

  test('without a legacy base URL, the error says which option is missing', async () => {
    const { client } = await serve({}, { legacyBaseUrl: undefined as never });
    const error = await failure(client.listSmsNumbers());
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(String(error)).toMatch(/legacyBaseUrl, or set CALLS_LEGACY_BASE_URL/);
  });
});
