import { statSync } from 'node:fs';
import type { Settings } from '@call-attribution/mcp-server/settings';
import { type CopyVerdict, describeCopy } from '@call-attribution/node-stream/copies';
import { storeName } from '@call-attribution/store';
import type { Args } from '../args.ts';
import { UsageError } from '../errors.ts';
import { explain } from '../failures/explain.ts';
import type { Io } from '../io.ts';
import { type ChosenStore, chooseStore, openChosen } from '../stores/open.ts';
import { bytes, plural, span } from '../terminal/numbers.ts';
import { type Finding, note, ok, wrong } from './findings.ts';

/** The store that the options and settings name; null when they name none, and a finding when they name none that can be. */
export function configuredStore(settings: Settings, args: Args, io: Io): ChosenStore | Finding | null {
  try {
    return chooseStore(args, settings, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return wrong('store', error.message, error.hints.join('; '));
  }
}

/** What a store says of one account. */
interface Held {
  readonly account: string;
  readonly calls: number;
  readonly newest: string | null;
  /** When the last sync was committed, in milliseconds since 1970. */
  readonly syncedAt: number | null;
  /** What the syncs have proved; null: none has begun. */
  readonly verdict: CopyVerdict | null;
}

/** What is in a store: which accounts, how fresh and how whole each is. Nothing is created, and the API is not asked. */
export async function storeFound(
  store: ChosenStore,
  settings: Settings,
  io: Io,
): Promise<{ readonly findings: readonly Finding[]; readonly isWhole: boolean }> {
  const { typed, path } = store;
  const { accounts } = settings;
  const shown = storeName(typed);
  const sync = `calls sync --store ${shown}`;
  const file = path === null ? null : statSync(path, { throwIfNoEntry: false });
  if (file === undefined)
    return { findings: [note('store', `${shown} does not exist yet`, `${sync} creates it`)], isWhole: true };
  try {
    const held = await heldIn(store, settings);
    const calls = held.reduce((sum, each) => sum + each.calls, 0);
    const text = `${shown}: ${plural(calls, 'call')} of ${plural(held.length, 'account')}${file === null ? '' : `, ${bytes(file.size)}`}`;
    const nameOf = (id: string) => accounts.find((account) => account.id === id)?.name ?? id;
    const each = held.map((one) => accountFound(nameOf(one.account), one, sync, io));
    return {
      findings: [held.length > 0 ? ok('store', text) : note('store', text, `${sync} fills it`), ...each],
      isWhole: held.every(({ verdict }) => verdict?.proof === 'whole'),
    };
  } catch (error) {
    const { message, hints } = await explain(error);
    return { findings: [wrong('store', `${shown}: ${message}`, hints.join('; '))], isWhole: false };
  }
}

function accountFound(name: string, held: Held, sync: string, { clock }: Io): Finding {
  const { calls, newest, syncedAt, verdict } = held;
  const age = syncedAt === null ? 'never synced' : `synced ${span(clock.now() - syncedAt)} ago`;
  const facts = `${plural(calls, 'call')}${newest === null ? '' : ` up to ${newest}`}, ${age}`;
  const lacks = verdict === null ? 'nothing was synced yet' : describeCopy(verdict);
  return lacks === null ? ok(name, `${facts}, whole`) : note(name, `${facts}; ${lacks}`, `${sync} goes on`);
}

async function heldIn(chosen: ChosenStore, settings: Settings): Promise<Held[]> {
  const store = await openChosen(chosen, settings, { readOnly: true });
  try {
    const held: Held[] = [];
    for (const size of (await store.sizes()).accounts)
      held.push({ ...size, verdict: await store.verdict(size.account) });
    return held;
  } finally {
    await store.close();
  }
}
