import { type Call, fields, fromCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore, type Store } from '@call-attribution/store';
import { type Schema, schemaProblems } from '@call-attribution/test-tools/json-schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, openApiDocument, type Service } from '../src/index.ts';
import { accountOf, keysOf } from './stage.ts';

const document = (await openApiDocument()) as unknown as Schema;

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' ? [String(inner)] : references(inner),
  );
}

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (part, name) => (part as Record<string, unknown> | undefined)?.[name],
      document,
    );
}

describe('the OpenAPI document', () => {
  test.each(['v2', 'v3'] as const)(
    'it describes every field of the table as %s has it',
    (version) => {
      const schema = document.components?.schemas?.[`Call${version.toUpperCase()}`] as Schema;
      const names = fields.flatMap((field) => field[version] ?? []);
      expect(Object.keys(schema.properties ?? {})).toEqual(names);
      expect(schema.required).toEqual(names);
      for (const call of fixtureCalls(400, 3)) {
        expect(schemaProblems(schema, fromCall(call, version), version)).toEqual([]);
      }
    },
  );

  test('it does not match a record that differs from the table', () => {
    const schema = document.components?.schemas?.CallV3 as Schema;
    const [call] = fixtureCalls(1);
    const bad = { ...fromCall(call as Call, 'v3'), date_added: 'yesterday', rank: 1, extra: true };
    const places = schemaProblems(schema, bad, 'v3').map((problem) => problem.split(':')[0]);
    expect([...new Set(places)].sort()).toEqual(['v3', 'v3.date_added', 'v3.rank']);
  });

  test('every reference has a target', () => {
    const all = references(document);
    expect(all.length).toBeGreaterThan(30);
    expect(all.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });

  test('it says how this service is set up', async () => {
    const options = { maxRows: 50, countAs: 'text', singleAs: 'array' } as const;
    const own = (await openApiDocument(options)) as unknown as Schema;
    const text = JSON.stringify(own);
    expect(text).toContain('"maximum":50');
    expect(own.components?.schemas?.Count?.type).toBe('string');
    const single = own.paths?.['/v3/user/bid-management/{sid}']?.get?.responses?.['200'] as Schema;
    expect(JSON.stringify(single)).toContain('"type":"array"');
  });
});

describe('a running service', () => {
  let store: Store;
  let service: Service;
  let url: string;
  beforeAll(async () => {
    store = await openStore('sqlite::memory:');
    service = createService({ store, accounts: [accountOf('101')], maxRows: 77 });
    ({ url } = await service.listen());
    await store.upsert('101', fixtureCalls(5));
  });
  afterAll(async () => {
    await service.close();
    await store.close();
  });

  test('it serves the document with its own limits, without credentials', async () => {
    const response = await fetch(`${url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(await openApiDocument({ maxRows: 77 }));
  });

  test('the SMS listing is described as it answers, by GET and by POST', async () => {
    const { accessKey, secretKey } = accountOf('101');
    const form = new URLSearchParams({
      action: 'sms.get_numbers',
      access_key: accessKey,
      secret_access_key: secretKey,
    });
    const path = document.paths?.['/ibp_api.php'] as Schema;
    const answers = {
      get: await fetch(`${url}/ibp_api.php?${form}`),
      post: await fetch(`${url}/ibp_api.php`, { method: 'POST', body: form }),
    };
    for (const [method, answer] of Object.entries(answers)) {
      const described = path[method]?.responses?.['200']?.content as Schema;
      const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
      expect([method, answer.status, Object.keys(described)]).toEqual([method, 200, [type]]);
      expect(await answer.text()).toContain('<result></result>');
    }

    // No credential of a POST is in the URL.
    const body = path.post?.requestBody?.content?.['application/x-www-form-urlencoded'] as Schema;
    expect(body.schema?.required).toEqual([...form.keys()]);
    expect([path.post?.parameters, path.post?.security]).toEqual([undefined, []]);
  });

  test('what it answers has a status, headers and a code that the document names', async () => {
    const list = document.paths?.['/v3/user/bid-management']?.get as Schema;

    const described = (status: number) => {
      const response = list.responses?.[status] as Schema;
      return (response?.$ref === undefined ? response : resolve(String(response.$ref))) as Schema;
    };

    const ask = (query: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/v3/user/bid-management${query}`, { headers });
    const good = keysOf('101');
    const page = await ask('?rows=2', good);
    const etag = page.headers.get('etag') ?? '';
    expect([page.status, Object.keys(described(200).headers ?? {})]).toEqual([
      200,
      ['Content-Range', 'ETag', 'X-Calls-Only'],
    ]);
    const same = await ask('?rows=2', { ...good, 'if-none-match': etag });
    expect([same.status, same.headers.get('etag')]).toEqual([304, etag]);
    expect(Object.keys(described(304).headers ?? {})).toEqual(['ETag', 'X-Calls-Only']);
    const refused = [
      await ask('?rows=none', good),
      await ask('?row=1', good),
      await ask(`?q=${encodeURIComponent('x:1')}`, good),
      await ask(''),
      await ask('', { ...good, secret_key: 'wrong' }),
      await fetch(`${url}/v3/user/bid-management`, { method: 'DELETE' }),
      await ask(`?q=${'x'.repeat(9_000)}`, good),
    ];
    for (const response of refused) {
      const { code, status } = (await response.json()) as { code: string; status: number };
      expect(status).toBe(response.status);
      expect(described(status).description).toContain(`- \`${code}\`: `);
    }
  });

  test('it describes every path that keys open', () => {
    const opened = service.routes.flatMap(({ who, path }) => (who === 'keys' ? [path] : []));
    expect(opened.sort()).toEqual(Object.keys(document.paths ?? {}).sort());
  });

  test('it serves every path of the document', async () => {
    const headers = { authorization: 'Bearer bearer_101_key' };
    for (const path of Object.keys(document.paths ?? {})) {
      const response = await fetch(url + path.replace('{sid}', 'none'), { headers });
      const known = path.endsWith('{sid}') ? 404 : 200;
      expect([path, response.status]).toEqual([path, known]);
      if (known === 404) expect(await response.json()).toMatchObject({ code: 'unknown_record' });
    }
  });
});
