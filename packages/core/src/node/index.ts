export { type HostFilesystemOptions, hostFilesystem } from './host-filesystem.ts';
