import { CallsError } from '../errors/calls-error.ts';
import type { Clock } from '../http/clock.ts';
import { channels, type Operation, type RequestEvent } from './channels.ts';

/** Runs one call to the server between a start and an end event. */
export async function tracedRequest<T extends { attempts: number; answer: { status: number } }>(
  ask: { readonly id: object; readonly operation: Operation; readonly url: string },
  clock: Clock,
  run: () => Promise<T>,
): Promise<T> {
  const { id, operation, url } = ask;
  const began = clock.now();
  const base = { id, operation, url };
  channels.request.publish({ phase: 'start', ...base } satisfies RequestEvent);
  const end = (rest: Partial<RequestEvent>) =>
    channels.request.publish({
      phase: 'end',
      ...base,
      durationMs: clock.now() - began,
      ...rest,
    } satisfies RequestEvent);
  try {
    const result = await run();
    end({ attempts: result.attempts, status: result.answer.status });
    return result;
  } catch (error) {
    if (!(error instanceof CallsError)) end({ error: 'aborted' });
    else {
      const { attempts, status, code } = error;
      end({
        error: code,
        ...(attempts === undefined ? {} : { attempts }),
        ...(status === undefined ? {} : { status }),
      });
    }
    throw error;
  }
}
