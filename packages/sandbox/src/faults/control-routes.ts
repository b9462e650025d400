import { ConfigurationError } from '@call-attribution/core/errors';
import { parseDuration } from '@call-attribution/core/time';
import { Refusal, type Route } from '@call-attribution/service';
import type { FaultBook } from './fault-book.ts';
import type { Journal } from './journal.ts';

/** What the control routes drive. */
interface Controls {
  readonly book: FaultBook;
  readonly journal: Journal;
  readonly advance: (seconds: number) => Promise<{ arrived: number; changed: number }>;
}

/** Routes by which a test in another process sets faults, reads the journal and lets time pass. */
export function controlRoutes({ book, journal, advance }: Controls): Route[] {
  return [
    {
      path: '/sandbox/requests',
      methods: ['GET', 'DELETE'],
      handle: ({ method }) => {
        if (method === 'DELETE') journal.clear();
        return Response.json({ total: journal.total, requests: journal.entries() });
      },
    },
    {
      path: '/sandbox/faults',
      methods: ['GET', 'PUT', 'DELETE'],
      handle: ({ method, url }) => {
        const query = new URL(url).searchParams;
        if (method === 'PUT') setFaults(book, needed(query, 'key'), needed(query, 'faults'));
        if (method === 'DELETE') book.clear(query.get('key') ?? undefined);
        return Response.json(book.all());
      },
    },
    {
      path: '/sandbox/advance',
      methods: ['POST'],
      handle: async ({ url }) => {
        const seconds = parseDuration(needed(new URL(url).searchParams, 'by')) / 1000;
        if (!(seconds >= 0 && seconds <= 1e8)) {
          throw new Refusal(
            'out_of_range',
            'by must be a duration of up to 150w, such as 90s or 6h.',
            {
              parameter: 'by',
            },
          );
        }

        return Response.json(await advance(seconds));
      },
    },
  ];
}

function setFaults(book: FaultBook, key: string, faults: string): void {
  try {
    book.set(key, faults);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new Refusal('fault_syntax', `${error.message}.`, { parameter: 'faults' });
  }
}

function needed(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value !== null) return value;
  throw new Refusal('missing_parameter', `The parameter ${name} is missing.`, { parameter: name });
}
