import { type MetricFamily, metricsText, type StatusSource } from '@call-attribution/node-stream/status';
import type { ToolStep } from '../tools/call.ts';

/** Counts the calls of tools. */
export interface ToolMeter {
  /** Counts what passes through. */
  readonly step: ToolStep;
  /** The counts in the text format of Prometheus. */
  text(): string;
}

interface Tally {
  ok: number;
  error: number;
  seconds: number;
}

/** Makes a meter. `names`: the tools there are; a client may call any other name. */
export function meterTools(names: readonly string[]): ToolMeter {
  const tallies = new Map<string, Tally>();
  const count = (name: string, result: 'ok' | 'error', from: number): void => {
    const tool = names.includes(name) ? name : 'unknown';
    const tally = tallies.get(tool) ?? { ok: 0, error: 0, seconds: 0 };
    tally[result] += 1;
    tally.seconds += (performance.now() - from) / 1000;
    tallies.set(tool, tally);
  };
  return {
    async step(next, name, args, request) {
      const from = performance.now();
      try {
        const result = await next(name, args, request);
        count(name, result.isError ? 'error' : 'ok', from);
        return result;
      } catch (error) {
        count(name, 'error', from);
        throw error;
      }
    },
    text: () => metricsText(familiesOf(tallies)),
  };
}

function familiesOf(tallies: ReadonlyMap<string, Tally>): MetricFamily[] {
  return [
    {
      name: 'calls_mcp_tool_calls_total',
      type: 'counter',
      help: 'Tool calls completed.',
      samples: [...tallies].flatMap(([tool, { ok, error }]) => [
        { value: ok, labels: { tool, result: 'ok' } },
        { value: error, labels: { tool, result: 'error' } },
      ]),
    },
    {
      name: 'calls_mcp_tool_seconds',
      type: 'summary',
      help: 'Time that tool calls took.',
      samples: [...tallies].flatMap(([tool, { ok, error, seconds }]) => [
        { suffix: '_sum' as const, value: Number(seconds.toFixed(6)), labels: { tool } },
        { suffix: '_count' as const, value: ok + error, labels: { tool } },
      ]),
    },
  ];
}

/** The status of a server: ready when each account has a client. */
export function serverStatus(clients: readonly (() => Promise<unknown>)[], meter: ToolMeter): StatusSource {
  return {
    async ready() {
      try {
        for (const client of clients) await client();
      } catch {
        // The reason may name files and variables of the operator, and anybody may read this.
        return 'the credentials are missing or cannot be used';
      }
      return null;
    },
    metrics: () => meter.text(),
  };
}
