type Child = Node | string | null;

/**
 * Creates an element. Strings become text nodes, so that nothing a visitor wrote can become markup.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The element of the page with this id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page does not have an element "${id}".`);
  return found as T;
}

/** A button that does something. */
export function button(
  label: string | Node,
  attributes: Readonly<Record<string, string>>,
  press: () => void,
): HTMLButtonElement {
  const element = el('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', press);
  return element;
}

/**
 * A panel that a button opens. It closes by itself when one clicks elsewhere or presses Escape, and
 * the focus goes back to the button. On a narrow screen it comes from below. `opening` fills it.
 */
export function panelOf(opener: HTMLButtonElement, panel: HTMLElement, opening: () => void): void {
  panel.popover = 'auto';
  opener.popoverTargetElement = panel;

  const place = () => {
    const { left, bottom } = opener.getBoundingClientRect();
    const { offsetWidth: width } = panel;
    const isNarrow = innerWidth < 600;
    panel.classList.toggle('sheet', isNarrow);
    panel.style.left = isNarrow
      ? '0px'
      : `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    panel.style.top = isNarrow
      ? 'auto'
      : `${Math.max(8, Math.min(bottom + 6, innerHeight - 220))}px`;
    panel.style.maxHeight = isNarrow ? '' : `${Math.max(200, innerHeight - bottom - 20)}px`;
  };

  panel.addEventListener('beforetoggle', (event) => {
    if (event.newState === 'open') opening();
  });
  panel.addEventListener('toggle', (event) => {
    const isOpen = event.newState === 'open';
    if (isOpen) place();
    for (const change of ['resize', 'scroll'] as const)
      (isOpen ? addEventListener : removeEventListener)(change, place, { passive: true });
  });
}

/** Runs something once nothing has called for it for a while. */
export function debounced(ms: number, run: () => void): { soon(): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    soon() {
      clearTimeout(timer);
      timer = setTimeout(run, ms);
    },
    cancel: () => clearTimeout(timer),
  };
}

/** A button that copies a string and says so. */
export function copyButton(what: string, text: () => string): HTMLButtonElement {
  const element = button('Copy', { class: 'small-button', 'aria-label': `Copy ${what}` }, () => {
    const say = (result: string) => {
      element.textContent = result;
    };

    navigator.clipboard.writeText(text()).then(
      () => say('Copied'),
      () => say('Not allowed'),
    );
    setTimeout(() => {
      element.textContent = 'Copy';
    }, 1500);
  });
  return element;
}
