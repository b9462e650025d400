import type { Call } from '@call-attribution/core';
import type { UpsertSink } from '@call-attribution/node-stream';
import { analyze } from './ask/analyze.ts';
import type { Answer, Question } from './ask/question.ts';
import { gateOf, type OpenOptions } from './file/gate.ts';
import { create, inspect, isAbsent } from './file/prepare.ts';
import type { Session } from './file/session.ts';
import { WarehouseSink } from './load/sink.ts';
import { callOf, recordJson } from './tables/row-reader.ts';

export interface WarehouseOptions {
  memory?: string;
  threads?: number;
  wait?: number;
  batch?: number;
  now?: () => number;
}
export interface Warehouse {
  sink(account: string): UpsertSink;
  calls(): AsyncGenerator<Call>;
  raw(sql: string): Promise<unknown>;
  analyze(question: Question): Promise<Answer>;
  close(): Promise<void>;
}

export async function openWarehouse(path: string, options: WarehouseOptions = {}): Promise<Warehouse> {
  const open: OpenOptions = {
    memory: options.memory ?? '700MB',
    threads: options.threads ?? 2,
    wait: options.wait ?? 10000,
  };
  const gate = gateOf(path);
  const write = <T>(body: (session: Session) => Promise<T>, wait = open.wait) =>
    gate.use('write', { ...open, wait }, body);
  if (isAbsent(path)) await write(create);
  else await gate.use('ask', open, (session) => inspect(session, path));
  const sinks = new Map<string, WarehouseSink>();
  return {
    sink(account) {
      let sink = sinks.get(account);
      if (!sink) {
        sink = new WarehouseSink(
          { path, write, now: options.now ?? Date.now, batch: options.batch ?? 245_760 },
          account,
        );
        sinks.set(account, sink);
      }
      return sink;
    },
    async *calls() {
      const session = await gate.open('ask', open);
      try {
        for await (const chunk of session.column(`SELECT ${recordJson()} FROM records`))
          yield* chunk.map(callOf);
      } finally {
        await session.close();
      }
    },
    analyze: (question) =>
      gate.use('ask', open, (session) => analyze(session, question), { signal: question.signal, timeLimit: question.timeLimit ?? 60_000 }),
    raw: (sql) => gate.use('ask', open, (session) => session.all(sql)),
    async close() {
      for (const sink of sinks.values()) await sink.close();
    },
  };
}
