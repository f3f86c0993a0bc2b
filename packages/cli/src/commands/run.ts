import type { Command } from 'commander';
export function addRun(_program: Command): void {}
