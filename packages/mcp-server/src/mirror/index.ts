export { Mirror } from './mirror.ts';
export { MirrorSource } from './mirror-source.ts';
