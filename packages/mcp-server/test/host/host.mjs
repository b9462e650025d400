// @ts-nocheck its packages are installed by the drill, and it runs in a browser.
// A host of MCP Apps: shows a page in a frame and passes it the result of a tool. Bundled for the
// browser by the drill.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

/** @param {{ html: string, theme: 'light' | 'dark', args: object, result: object }} shown */
globalThis.show = async ({ html, theme, args, result }) => {
  document.body.replaceChildren();
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.style.width = '700px';
  document.body.append(frame);
  const view = frame.contentWindow;
  const bridge = new AppBridge(
    null,
    { name: 'drill', version: '1' },
    {},
    { hostContext: { theme } },
  );
  const heights = [];
  bridge.addEventListener('sizechange', ({ height }) => heights.push(height));
  const ready = new Promise((resolve) =>
    bridge.addEventListener('initialized', () => resolve(undefined)),
  );
  await bridge.connect(new PostMessageTransport(view, view));
  frame.srcdoc = html;
  await ready;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(result);
  globalThis.bridge = bridge;
  globalThis.heights = heights;
};
