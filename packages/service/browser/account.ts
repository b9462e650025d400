import { formatCount } from '@call-attribution/questions/chart';
import { type Credentials, noKeys } from './api.ts';
import { byId, copyButton, el } from './dom.ts';

/** What the service says about itself. */
export interface About {
  readonly kind: 'sandbox' | 'mirror';
  readonly live: boolean;
  /** The instant at which it was asked, in milliseconds. */
  readonly now: number;
  /** Whose days words such as `yesterday` are about. */
  readonly timeZone: string;
  /** Whether that is the zone of the calls; else it is that of the machine of the service. */
  readonly isZoneKnown: boolean;
  /** Whether somebody has signed in with a password: the browser keeps the session. */
  readonly hasPassword: boolean;
  /** Their user name; empty where there is none. */
  readonly user: string;
  /** Fields that they do not see. */
  readonly hidden: readonly string[];
  /**
   * Accounts to choose from, those of a sandbox with their test keys; empty where keys are asked
   * for.
   */
  readonly accounts: readonly Account[];
}

/** An account to choose. */
interface Account extends Credentials {
  readonly id: string;
  readonly name: string;
  /** The number of its calls; null where nobody has counted them. */
  readonly records: number | null;
}

/** Shows the accounts to choose from; returns the way to the one with an id, or to the first. */
export function chooseAccount(
  { accounts, hasPassword }: About,
  id: string,
  changed: (id: string) => void,
): Credentials | null {
  const named = accounts.find(({ name }) => name === id);
  const account = accounts.find((each) => each.id === id) ?? named ?? accounts[0];
  if (account === undefined) return null;
  const select = el(
    'select',
    { id: 'account-choice' },
    ...accounts.map((each) => {
      const size = each.records === null ? '' : ` (${formatCount(each.records)} calls)`;
      const option = el('option', { value: each.id }, `${each.name}${size}`);
      option.selected = each === account;
      return option;
    }),
  );
  select.addEventListener('change', () => changed(select.value));
  byId('account').replaceChildren(
    el('label', { for: 'account-choice', class: 'hidden' }, 'Account'),
    select,
  );
  if (hasPassword) return { ...noKeys, account: account.id };
  byId('keys').replaceChildren(
    el(
      'p',
      { class: 'muted small' },
      'Test keys of this account, which work in this sandbox only.',
    ),
    ...(
      [
        ['Access key', account.accessKey],
        ['Secret key', account.secretKey],
        ['Bearer token', account.bearerToken],
      ] as const
    ).map(([label, value]) =>
      el(
        'p',
        { class: 'row key' },
        el('span', {}, label),
        el('code', {}, value),
        copyButton(label.toLowerCase(), () => value),
      ),
    ),
  );
  return { ...account, account: null };
}

/** Sets up signing out: of a session, or by forgetting the keys. */
export function offerSigningOut({ hasPassword, user }: About): void {
  const button = byId('sign-out');
  button.hidden = !hasPassword;
  if (user !== '') button.title = `You are signed in as ${user}.`;
  button.addEventListener('click', async () => {
    if (hasPassword) await fetch('sign-out', { method: 'POST', redirect: 'manual' });
    location.reload();
  });
}

/**
 * Sets up the sign-in with keys; `enter` is called with what was typed. The keys stay in this page
 * until it is closed.
 */
export function createSignIn(enter: (keys: Credentials) => void): {
  ask(problem: string | null): void;
  done(): void;
} {
  const form = byId<HTMLFormElement>('sign-in');
  const value = (id: string) => byId<HTMLInputElement>(id).value.trim();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    enter({
      account: null,
      accessKey: value('access-key'),
      secretKey: value('secret-key'),
      bearerToken: value('bearer-token'),
    });
  });
  return {
    ask(problem) {
      form.hidden = false;
      byId('app').hidden = true;
      byId('sign-in-problem').textContent = problem ?? '';
      byId('access-key').focus();
    },
    done() {
      byId('app').hidden = false;
      if (form.hidden) return;
      form.hidden = true;
      byId('sign-out').hidden = false;
    },
  };
}
