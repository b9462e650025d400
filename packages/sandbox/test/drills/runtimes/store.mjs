// What a program does with a store in SQLite, on any runtime: `store.mjs <folder>`. It prints what
// it has found as one line of JSON, which is the same on all of them, whichever SQLite they have.
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore, querySql, sqliteInUse } from '@call-attribution/store';

const [folder = ''] = process.argv.slice(2);
const file = join(folder, 'calls.db');
const url = `sqlite:${file}`;
/** @type {Record<string, unknown>} */
const found = {};

/** @param {Promise<unknown>} promise */
const failure = (promise) =>
  promise.then(
    (value) => value,
    ({ code, message }) => [code, String(message).replaceAll(folder, '')],
  );

/** @param {string} sql @param {object} [options] */
const ask = (sql, options) =>
  failure(
    (async () => {
      const result = await querySql(url, sql, options);
      const rows = [];
      for await (const row of result) rows.push(row);
      return { columns: result.columns, rows };
    })(),
  );

const open = () => {
  const all = '/proc/self/fd';
  if (!existsSync(all)) return 0;
  return readdirSync(all).filter((name) => {
    try {
      return readlinkSync(join(all, name)).startsWith(folder);
    } catch {
      return false;
    }
  }).length;
};

const calls = fixtureCalls(3_000);
const [pattern] = /** @type {[import('@call-attribution/core').Call]} */ (calls.slice(0, 1));
const odd = {
  ...pattern,
  sid: 'odd',
  city: 'a\0b',
  ppc_campaign: 'half \ud83d',
  talk_minutes: 'x',
};
{
  const store = await openStore(url);
  const other = await openStore(url);
  await store.putAccount({ id: '101', name: 'One' });
  found.upsert = await store.upsert('101', [...calls, odd]);
  found.again = await store.upsert('101', [...calls, { ...odd, city: 'Peru' }]);
  await Promise.all([other.upsert('101', calls.slice(0, 5)), store.remove('101', ['S1-0000009'])]);
  found.count = await other.count('101');
  found.odd = await other.get('101', 'odd');
  const page = await store.page('101', {
    selection: {},
    version: 'v3',
    offset: 100,
    rows: 3,
  });
  found.page = JSON.parse(String(page.body));

  // Half of them are read: their statements are open when the store is closed.
  for await (const batch of store.columns('101', ['sid', 'talk_minutes'])) {
    found.batch = [batch.length, batch.columns.talk_minutes?.slice(0, 5)];
    break;
  }

  const claim = await store.claim('101', 'a process');
  await store.commitClaimed(claim, { calls: [], note: { a: 1 } });
  found.lost = await failure(other.commitClaimed({ ...claim, token: 0 }, { calls: [] }));
  await other.columns('101', ['sid'])[Symbol.asyncIterator]().next();
  await store.close();
  await other.close();
}
found.left = [open(), readdirSync(folder)];

{
  const store = await openStore(url, { readOnly: true });
  found.readOnly = [
    await store.count('101'),
    await failure(store.putAccount({ id: '102', name: 'Two' })),
  ];
  await store.close();
}

found.types = await ask(
  "select sid, talk_minutes, pool_id, 9007199254740993 as big, x'0aff' as bytes, 1e400 as much, null as none from calls order by sid limit 2",
);
found.many = await ask('select count(*) as n from (select 1 from calls, (values (1), (2)))');
found.mistake = await ask('select ppc_campaing from calls');
found.quoted = await ask('select "Peru" from calls');
found.syntax = await ask('select from where');
found.several = await ask('select 1; delete from records');
found.writes = await ask('with x as (select 1) delete from records');
found.plan = await ask("explain query plan select * from calls where account = '101'", { most: 0 });
found.file = await ask("select writefile('x', 'y')");
found.late = await ask(
  'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n',
  { timeLimit: '500ms' },
);

writeFileSync(
  join(folder, 'text.db'),
  'not a database, but long enough to be read as one'.repeat(90),
);
found.text = await failure(openStore(`sqlite:${join(folder, 'text.db')}`));
found.nowhere = await failure(openStore(`sqlite:${join(folder, 'no/such/calls.db')}`));
found.missing = await failure(openStore(`sqlite:${join(folder, 'none.db')}`, { readOnly: true }));
mkdirSync(join(folder, 'sub.db'));
found.folder = await failure(openStore(`sqlite:${join(folder, 'sub.db')}`));

const store = await openStore(url);
rmSync(file);
found.removed = await failure(store.upsert('101', calls.slice(0, 1)));
await store.close();
found.closed = await failure(store.count('101'));
found.inMemory = await (async () => {
  const memory = await openStore('sqlite::memory:');
  await memory.putAccount({ id: '1', name: 'x' });
  await memory.upsert('1', calls);
  const count = await memory.count('1');
  await memory.close();
  return count;
})();
process.stdout.write(JSON.stringify({ found, sqlite: await sqliteInUse() }));
