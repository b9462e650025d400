// Twelve hard questions over the API, without a local copy, to a sandbox with 400,000 calls: how many calls of tools and how many tokens
// each takes until it has its exact numbers. `node hard.bench.mjs [calls]`.
import { bundled } from '../bundled.mjs';

const records = Number(process.argv[2] ?? 400_000);
const limits = { calls: 8, tokens: 1500 };

/** Nothing in them can be left to the API: each needs every call of its period, the last ones every call of the account. */
const questions = [
  { group_by: 'campaign', measures: ['calls', 'talk_p90', 'missed_rate'] },
  { group_by: 'month', measures: ['calls', 'callers', 'talk_median'] },
  { group_by: ['weekday', 'hour'], measures: ['calls', 'missed_rate'], order: 'calls desc', limit: 10 },
  { group_by: 'state', measures: ['calls', 'distinct(city)'], having: 'calls >= 100', limit: 10 },
  { group_by: 'landing_page', measures: ['calls', 'talk_mean', 'callers'], limit: 5 },
  { where: 'talk_minutes >= 2 AND NOT missed', group_by: 'channel', measures: ['calls', 'callers'] },
  { where: "keyword LIKE '%emergency%' OR search_term LIKE '%emergency%'", measures: ['calls', 'talk_p90'] },
  { group_by: ['campaign', 'device'], top_per: 3, measures: ['calls', 'missed'] },
  { where: 'ppc_gclid IS NOT NULL', group_by: 'week', measures: ['calls', 'share(missed) as missed_part'] },
  { measures: ['calls', 'callers', 'repeat_callers', 'distinct(landing_page)'] },
  { group_by: 'caller_type', measures: ['calls', 'talk_median'] },
  { period: '2026-10', compare: 'previous', group_by: 'campaign', measures: ['calls', 'missed_rate'] },
].map((question) => ({ calls: 'all', ...question }));

// The drivers of databases are native and stay where they are installed.
const packages = new URL('../../packages/', import.meta.url);
const { apiKeys, createClient, startSandbox, callTool, createServer, estimateTokens } = await bundled(
  `
    export { apiKeys, createClient } from '@call-attribution/core';
    export { startSandbox } from '@call-attribution/sandbox';
    export { callTool, createServer } from './src/index.ts';
    export { estimateTokens } from './src/tools/table.ts';`,
  new URL('mcp-server/', packages),
  { external: ['libsql', 'pg', 'pg-*'], beside: new URL('store/', packages) },
);
const sandbox = await startSandbox({ records, to: '2026-11-01 00:00:00' });
const [account] = sandbox.accounts;
const client = createClient({
  baseUrl: sandbox.url,
  legacyBaseUrl: sandbox.legacyUrl,
  auth: apiKeys(account.accessKey, account.secretKey),
});

console.log(`\n## ${questions.length} hard questions over the API, ${records} calls`);
let missed = 0;
for (const question of questions) {
  // A server of its own, so that no question uses what another has read.
  const server = createServer(client, {
    clock: { now: () => Date.parse('2026-11-01T00:00:00Z') + performance.now() },
    callTimeout: '10m',
  });
  let args = question;
  let calls = 0;
  let tokens = 0;
  let last;
  for (;;) {
    last = await callTool(server, 'analyze_calls', args);
    calls += 1;
    tokens += estimateTokens(last.content[0].text);
    const cursor = last.structuredContent?.go_on ?? (last.isError ? undefined : goOnIn(last.content[0].text));
    if (cursor === undefined || calls >= 40) break;
    args = { cursor };
  }
  await server.close();
  const isHeld =
    last.isError !== true &&
    last.structuredContent?.complete === true &&
    calls <= limits.calls &&
    tokens <= limits.tokens;
  if (!isHeld) missed += 1;
  const { group_by, where, measures } = question;
  const name = JSON.stringify({ group_by, where, measures }).slice(0, 90);
  const why = last.isError ? last.content[0].text.slice(0, 120) : '';
  console.log(
    `${name.padEnd(92)} ${String(calls).padStart(3)} calls ${String(tokens).padStart(6)} tokens  ${isHeld ? 'held' : `not held ${why}`}`,
  );
}
console.log(
  `limit ${limits.calls} calls and ${limits.tokens} tokens: ${questions.length - missed} of ${questions.length} held`,
);
await client.close();
await sandbox.close();

/** The cursor with which a question goes on. @param {string} text */
function goOnIn(text) {
  return /NOT FINISHED: .*?\{"cursor":"([^"]+)"\}/.exec(text)?.[1];
}
