import { byId } from './dom.ts';

const every = 2000;

/** Shows the switch that follows the calls of a live sandbox: `newest` is called every two seconds while it is on. */
export function createFollow(newest: () => Promise<void>): void {
  const button = byId<HTMLButtonElement>('follow');
  let timer: ReturnType<typeof setTimeout> | undefined;
  button.hidden = false;

  async function look(): Promise<void> {
    // Whoever reads the table or a call must not have it pulled away.
    const reading = byId('calls').contains(document.activeElement) || byId<HTMLDialogElement>('record').open;
    if (!reading && !document.hidden) await newest();
    if (timer !== undefined) timer = setTimeout(look, every);
  }

  button.addEventListener('click', () => {
    const on = timer === undefined;
    button.setAttribute('aria-pressed', String(on));
    // A reader of the screen would be told of each new call.
    byId('calls-range').setAttribute('aria-live', on ? 'off' : 'polite');
    clearTimeout(timer);
    timer = on ? setTimeout(look, 0) : undefined;
  });
}
