import type { Credentials } from './api.ts';
import { el, grouped } from './dom.ts';

/** What the service says about itself. */
export interface About {
  readonly kind: 'sandbox' | 'mirror';
  readonly live: boolean;
  /** Accounts with their test keys; empty in a mirror, whose keys are secret. */
  readonly accounts: readonly Account[];
}

/** An account of the sandbox. */
interface Account extends Credentials {
  readonly id: string;
  readonly name: string;
  readonly records: number;
}

/** Draws the accounts of a sandbox to choose from, or input fields for keys. `changed` is called with the keys to use. */
export function drawAccount(place: HTMLElement, about: About, changed: (keys: Credentials) => void): void {
  if (about.kind === 'sandbox') drawAccounts(place, about, changed);
  else drawKeyFields(place, changed);
}

function drawAccounts(place: HTMLElement, { accounts }: About, changed: (keys: Credentials) => void): void {
  const keys = el('div', { class: 'keys' });
  const choose = (account: Account) => {
    keys.replaceChildren(
      keyField('Access key', account.accessKey),
      keyField('Secret key', account.secretKey),
      keyField('Bearer token', account.bearerToken),
    );
    changed(account);
  };
  const choices = accounts.map((account, i) => {
    const input = el('input', { type: 'radio', name: 'account', value: account.id });
    input.checked = i === 0;
    input.addEventListener('change', () => choose(account));
    return el(
      'label',
      { class: 'account' },
      input,
      el('b', {}, account.name),
      el('span', { class: 'muted small' }, `Account ${account.id} · ${grouped(account.records)} calls`),
    );
  });
  place.replaceChildren(
    el('p', { class: 'muted small' }, 'Made-up accounts with test keys, which work in this sandbox only.'),
    el(
      'fieldset',
      {},
      el('legend', { class: 'hidden' }, 'Account'),
      el('div', { class: 'accounts' }, ...choices),
    ),
    keys,
  );
  if (accounts[0]) choose(accounts[0]);
}

function keyField(label: string, value: string): HTMLElement {
  const button = el('button', { type: 'button', 'aria-label': `Copy ${label.toLowerCase()}` }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(value);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  return el('div', { class: 'key' }, el('div', {}, el('span', {}, label), el('code', {}, value)), button);
}

function drawKeyFields(place: HTMLElement, changed: (keys: Credentials) => void): void {
  const fields = (
    [
      ['accessKey', 'Access key', 'text'],
      ['secretKey', 'Secret key', 'password'],
      ['bearerToken', 'or bearer token', 'password'],
    ] as const
  ).map(([name, label, type]) => {
    const input = el('input', { id: name, type, autocomplete: 'off', spellcheck: 'false' });
    return { name, input, field: el('div', {}, el('label', { for: name }, label), input) };
  });
  for (const { input } of fields) {
    input.addEventListener('change', () => {
      changed(
        Object.fromEntries(
          fields.map((field) => [field.name, field.input.value.trim()]),
        ) as unknown as Credentials,
      );
    });
  }
  place.replaceChildren(
    el(
      'p',
      { class: 'muted small' },
      'Your keys stay in this page until you close it; they are sent to this service only.',
    ),
    el('div', { class: 'keys' }, ...fields.map(({ field }) => field)),
  );
}
