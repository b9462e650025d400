// An agent answers questions over a local copy of the calls: it is given the tools, calls them in a
// loop, corrects a wrong argument as the error says, follows one caller by its mask, and says no
// where the data cannot tell. The model is scripted, so that the program needs no key and always
// does the same; a real one takes the same messages and returns the same steps.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { generate, startSandbox } from '@call-attribution/sandbox';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/**
 * @typedef {{ type: 'tool', name: string, input: Record<string, unknown> } | { type: 'text', text:
 * string }} Step
 */
/** @typedef {{ role: 'user' | 'assistant' | 'tool', content: string }} Message */

/** The data of the last tool result. @param {readonly Message[]} messages */
const lastData = (messages) =>
  JSON.parse(messages.findLast(({ role }) => role === 'tool')?.content ?? '{}');

/**
 * What a model would do, written down: the next step for a question, given what the tools have
 * answered so far.
 * @type {Record<string, ((messages: readonly Message[]) => Step)[]>}
 */
const script = {
  'Which campaign missed most calls in October, in percent?': [
    () => ({
      type: 'tool',
      name: 'analyze_calls',
      input: {
        from: '2026-10-01',
        to: '2026-10-32',
        where: 'ppc_campaign IS NOT NULL',
        group_by: ['campaign'],
        measures: ['missed_rate'],
        order: 'missed_rate desc',
      },
    }),
    (messages) => {
      // There is no 32 October. The error says what was probably meant; a model corrects the call.
      assert.match(
        messages.at(-1)?.content ?? '',
        /^to is "2026-10-32".+ Did you mean 2026-10-31\?$/,
      );
      return {
        type: 'tool',
        name: 'analyze_calls',
        input: {
          from: '2026-10-01',
          to: '2026-10-31',
          where: 'ppc_campaign IS NOT NULL',
          group_by: ['campaign'],
          measures: ['missed_rate'],
          order: 'missed_rate desc',
          limit: 1,
        },
      };
    },
    (messages) => {
      const [[campaign, rate]] = lastData(messages).rows;
      return { type: 'text', text: `${campaign}: ${(rate * 100).toFixed(1)} %` };
    },
  ],
  'What did our most frequent caller do?': [
    () => ({
      type: 'tool',
      name: 'analyze_calls',
      input: { group_by: ['caller'], limit: 1, calls: 'all' },
    }),
    (messages) => ({
      type: 'tool',
      name: 'list_calls',
      input: {
        caller: lastData(messages).rows[0][0],
        fields: ['date_added', 'landing_page'],
        calls: 'all',
      },
    }),
    (messages) => {
      const { total, rows } = lastData(messages);
      return {
        type: 'text',
        text: `${total} calls, the last on ${String(rows[0][1]).slice(0, 10)}`,
      };
    },
  ],
  'How much revenue did the calls bring?': [
    () => ({ type: 'tool', name: 'describe_data', input: { fields: ['talk_minutes'] } }),
    (messages) => {
      assert.match(lastData(messages).summary, /Not in the data: revenue/);
      return { type: 'text', text: 'The data has no revenue, so I cannot say.' };
    },
  ],
};

const to = '2026-11-01 00:00:00';
const sandbox = await startSandbox({ records: 3000, to });
const [account] = sandbox.accounts;
assert(account);
const tools = new Client({ name: 'example-agent', version: '1.0.0' });
const server = new StdioClientTransport({
  command: process.execPath,
  args: [fileURLToPath(new URL('../packages/mcp-server/dist/bin.js', import.meta.url)), '--memory'],
  env: {
    CALLS_BASE_URL: sandbox.url,
    CALLS_ACCESS_KEY: account.accessKey,
    CALLS_SECRET_KEY: account.secretKey,
  },
  stderr: 'pipe',
});

/** @param {string} question */
async function answer(question) {
  /** @type {Message[]} */
  const messages = [{ role: 'user', content: question }];
  const steps = script[question] ?? [];
  for (let turn = 0; turn < 8; turn += 1) {
    const step = /** @type {Step} */ (steps[turn]?.(messages));
    if (step.type === 'text') return { text: step.text, calls: turn };
    messages.push({ role: 'assistant', content: JSON.stringify(step) });
    const { content } = await tools.callTool({ name: step.name, arguments: step.input });
    const [block] = /** @type {{ text: string }[]} */ (content);
    messages.push({ role: 'tool', content: block?.text ?? '' });
  }

  throw new Error('The agent did not come to an answer.');
}

try {
  await tools.connect(server);
  const { tools: listed } = await tools.listTools();
  for (const steps of Object.values(script)) assert(steps.length > 1 && listed.length >= 6);

  const calls = [...generate({ records: 3000, to })];
  const answers = Object.fromEntries(
    await Promise.all(
      Object.keys(script).map(
        async (question) => /** @type {const} */ ([question, await answer(question)]),
      ),
    ),
  );
  for (const [question, { text, calls: used }] of Object.entries(answers))
    console.log(`${question}\n  ${text} (${used} tool calls)`);

  // The same from the records.
  /** @type {Map<string, [missed: number, all: number]>} */
  const campaigns = new Map();
  /** @type {Map<string, number>} */
  const callers = new Map();
  for (const call of calls) {
    callers.set(call.ani, (callers.get(call.ani) ?? 0) + 1);
    if (!call.date_added.startsWith('2026-10') || call.channel !== 'Tracker' || !call.ppc_campaign)
      continue;
    const [missed, all] = campaigns.get(call.ppc_campaign) ?? [0, 0];
    campaigns.set(call.ppc_campaign, [missed + (Number(call.talk_minutes) === 0 ? 1 : 0), all + 1]);
  }
  const worst = Math.max(...[...campaigns.values()].map(([missed, all]) => missed / all));
  const [missed, frequent, revenue] = Object.values(answers);
  assert(missed?.text.endsWith(`: ${(worst * 100).toFixed(1)} %`));
  assert(frequent?.text.startsWith(`${Math.max(...callers.values())} calls`));
  assert.match(revenue?.text ?? '', /no revenue/);
} finally {
  await tools.close();
  await sandbox.close();
}
