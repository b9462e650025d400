import type { Exchange, Reply, Route } from '@call-attribution/service';
import { Refusal } from '@call-attribution/service';
import { FaultSyntaxError } from './fault.ts';
import type { FaultBook } from './fault-book.ts';
import type { Journal } from './journal.ts';

/** What the control routes drive. */
export interface Controls {
  readonly book: FaultBook;
  readonly journal: Journal;
  readonly advance: (seconds: number) => Promise<{ arrived: number; changed: number }>;
}

/** Routes that let a test in another process set faults, read the journal and let time pass. For a sandbox only. */
export function controlRoutes({ book, journal, advance }: Controls): Route[] {
  return [
    {
      path: '/sandbox/requests',
      methods: ['GET', 'DELETE'],
      handle: ({ method }) => {
        if (method === 'DELETE') journal.clear();
        return json({ total: journal.total, requests: journal.entries() });
      },
    },
    {
      path: '/sandbox/faults',
      methods: ['GET', 'PUT', 'DELETE'],
      handle: (exchange) => {
        const query = new URLSearchParams(exchange.query);
        if (exchange.method === 'PUT') setFaults(book, need(query, 'key'), need(query, 'faults'));
        if (exchange.method === 'DELETE') book.clear(query.get('key') ?? undefined);
        return json(book.all());
      },
    },
    {
      path: '/sandbox/advance',
      methods: ['POST'],
      handle: async (exchange: Exchange) => {
        const seconds = Number(need(new URLSearchParams(exchange.query), 'seconds'));
        if (!(seconds >= 0 && seconds <= 1e8)) {
          throw new Refusal(400, 'out_of_range', 'seconds must be a number from 0 to 100000000.', {
            parameter: 'seconds',
          });
        }
        return json(await advance(seconds));
      },
    },
  ];
}

function setFaults(book: FaultBook, key: string, faults: string): void {
  try {
    book.set(key, faults);
  } catch (error) {
    if (!(error instanceof FaultSyntaxError)) throw error;
    throw new Refusal(400, error.code, `${error.message}.`, { parameter: 'faults' });
  }
}

function need(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value !== null) return value;
  throw new Refusal(400, 'missing_parameter', `The parameter ${name} is missing.`, { parameter: name });
}

function json(value: unknown): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
