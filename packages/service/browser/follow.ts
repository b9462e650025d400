import { byId } from './dom.ts';

const everyMs = 2000;

/**
 * Shows the button that follows the calls of a live sandbox: `newest` is called every two seconds
 * while it is pressed.
 */
export function offerFollowing(newest: () => Promise<void>): void {
  const opener = byId<HTMLButtonElement>('follow');
  let timer: ReturnType<typeof setTimeout> | undefined;
  opener.hidden = false;

  async function refresh(): Promise<void> {
    // What one reads or points at must not change.
    const isReading =
      byId('calls').contains(document.activeElement) ||
      byId('days').contains(document.activeElement) ||
      document.querySelector('dialog[open], :popover-open') !== null;
    if (!isReading && !document.hidden) await newest();
    if (timer !== undefined) timer = setTimeout(refresh, everyMs);
  }

  opener.addEventListener('click', () => {
    const isOn = timer === undefined;
    opener.setAttribute('aria-pressed', String(isOn));
    clearTimeout(timer);
    timer = isOn ? setTimeout(refresh, 0) : undefined;
  });
}
