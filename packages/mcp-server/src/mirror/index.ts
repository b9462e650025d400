export { CopySource } from './copy-source.ts';
export { Mirror } from './mirror.ts';
