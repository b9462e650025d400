import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Call, Client } from '@call-attribution/core';
import { callTool, createServer } from '@call-attribution/mcp-server';
import { describe, type Verdict } from '@call-attribution/node-stream';
import { toCsv } from '@call-attribution/node-stream/encoders';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { createAnswers, planQuestion, type RunningAnswers } from '@call-attribution/questions';
import type { Handler } from '../../args.ts';
import { exitCodes, Interrupted, UsageError } from '../../errors.ts';
import { readCalls, watch } from '../../input/verdict.ts';
import { fileError, type Io, isSpecial, say, show } from '../../io.ts';
import { layoutOf } from '../../report/question.ts';
import { reportLines } from '../../report/terminal.ts';
import { reportOf } from '../../report/view.ts';
import { endOfSandbox, openOwnSandbox } from '../../serving/sandbox.ts';
import { count, duration } from '../../terminal/numbers.ts';
import { type Style, styleFor, widthOf } from '../../terminal/style.ts';
import { progressLine } from '../../terminal/waiting.ts';

/** `calls demo`: everything on generated calls, without a network or an account. */
export const demo: Handler = async (args, io) => {
  const records = args.integer('records') ?? 20_000;
  const seed = args.integer('seed') ?? 1;
  const end = endOfSandbox(args.text('to'), io.clock);

  // A name that an export of real calls is unlikely to have, because the file is overwritten.
  const shown = args.text('output') ?? 'demo-calls.csv';
  const path = resolve(io.cwd, shown);
  if (isSpecial(path))
    throw new UsageError(
      `--output ${shown} is not a regular file; name a file that calls demo may overwrite`,
    );

  const style = styleFor(io.stdout, io.env);
  const print = (...lines: string[]): Promise<void> => show(io, lines);
  const from = performance.now();

  await print(
    `${style.bold('1.')} The API on this machine, over ${count(records)} generated calls`,
  );
  const sandbox = await openOwnSandbox(
    { records, seed, ...end },
    progressLine(io, 'generated calls'),
    io.signal,
  );
  const { client } = sandbox;
  try {
    await print('', `${style.bold('2.')} All calls, read page by page and written to ${shown}`);
    const question = { groupBy: ['channel', 'day'], measures: ['calls', 'share', 'talk_sum'] };
    const layout = layoutOf({ question, plan: planQuestion(question), read: {} }, true);
    const running = createAnswers(layout.plans);
    const verdict = await streamToCsv(client, path, running, shown, io);
    await print(`   ${describe(verdict).text}`);

    const width = Math.min(100, widthOf(io.stdout, io.env) ?? 100);
    await print('', `${style.bold('3.')} A report: calls by channel and day`, '');
    const answers = running.answers();
    const [main] = answers;
    if (main) {
      const report = reportOf(layout, main, answers, { until: null, annotations: [] });
      await print(...reportLines(report, { width, style }));
    }

    await print(
      '',
      `${style.bold('4.')} The same for an AI assistant: a tool call of the MCP server`,
      '',
    );
    await print(...(await toolCall(client, end.to ?? null, width, style)));

    const { typedAs = 'calls' } = io;
    await print(
      '',
      style.bold('Next'),
      `  a web page over generated calls              ${typedAs} serve --open`,
      `  the tools for your assistant, over the same  ${typedAs} mcp --sandbox`,
      `  your own account: asks for URL and keys      ${typedAs} init`,
    );
    say(io, style.dim(`(finished in ${duration(performance.now() - from)})`));
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
};

async function streamToCsv(
  client: Client,
  path: string,
  running: RunningAnswers,
  shown: string,
  io: Io,
): Promise<Verdict> {
  const { line, onProgress } = watch(io, '   calls');
  const { stream, verdict } = readCalls(client, {
    filter: 'inc_gce:1',
    onProgress,
    signal: io.signal,
  });

  const counted = async function* (calls: AsyncIterable<Call>): AsyncGenerator<Call> {
    for await (const call of calls) {
      running.add(call);
      yield call;
    }
  };

  try {
    await pipeline(stream, counted, fileSink<Call>(path, { encode: toCsv<Call>() }));
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw fileError(error, shown);
  } finally {
    line.close();
  }

  return verdict;
}

async function toolCall(
  client: Client,
  to: string | null,
  width: number,
  style: Style,
): Promise<string[]> {
  // Generated calls that end at a fixed time are as of that time.
  const asOf = to === null ? {} : { clock: { now: () => Date.parse(`${to.replace(' ', 'T')}Z`) } };
  const server = createServer(client, { pseudonymKey: 'demo', ...asOf });
  const request = { group_by: ['campaign'], limit: 5, calls: 'all' };
  const { content } = await callTool(server, 'analyze_calls', request);
  const sent = style.cyan(`→ analyze_calls ${JSON.stringify(request)}`);

  // The result is written for programs: it has no spaces to break lines at.
  const text = content.map(({ text }) => text).join('\n');
  const lines = text.match(new RegExp(`.{1,${width - 5}}`, 'gu')) ?? [];
  const shown = lines.length > mostLines ? [...lines.slice(0, mostLines), '…'] : lines;
  return [sent, ...shown.map((line) => `← ${line}`)].map((line) => `   ${line}`);
}

// Enough to see what an assistant gets.
const mostLines = 4;
