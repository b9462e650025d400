import diagnosticsChannel from 'node:diagnostics_channel';

// Names follow core's: the package, then what happened. Nothing is built unless somebody listens.
const channels = {
  page: diagnosticsChannel.channel('call-attribution:stream:page'),
  slice: diagnosticsChannel.channel('call-attribution:stream:slice'),
  reread: diagnosticsChannel.channel('call-attribution:stream:reread'),
  end: diagnosticsChannel.channel('call-attribution:stream:end'),
};

/** Tells whoever listens on `call-attribution:stream:<name>`. */
export function publish(name: keyof typeof channels, message: () => object): void {
  const channel = channels[name];
  if (channel.hasSubscribers) channel.publish(message());
}
