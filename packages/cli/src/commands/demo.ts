import type { Command } from 'commander';
import { EXIT } from '../exit-code.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';

export function addDemo(program: Command): void {
  const demo = program.command('demo').description('Show what Lastcall promises.');
  demo
    .command('crash')
    .description('Kill a gateway inside a payment, start another, and see how often it was paid.')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      '\nIt uses a temporary folder and a bank that is part of the demo. The exit code is 0 if the bank paid once.',
    )
    .action(crashDemo);
  demo.command('gateway', { hidden: true }).action(runDemoGateway);
}

async function crashDemo({ json }: { json?: boolean }): Promise<void> {
  const { crash } = await import('../demo/crash.ts');
  const report = await crash((line) => process.stderr.write(`${line}\n`));
  const { payments, requests, settlements, messages } = report;
  const isRight = payments.length === 1 && settlements.length === 1 && settlements[0]?.status === 'ok';
  const words = [
    `The call ran again with the same key. The bank was asked ${requests} times and paid ${payments.length} time${payments.length === 1 ? '' : 's'}.`,
    `The call settled ${settlements.length === 1 ? 'once' : `${settlements.length} times`}: ${settlements.map(({ status, text }) => `${status} ${text}`).join(', ')}`,
    ...messages.map((text) => `The agent to Ada: ${plainLine(text, 300)}`),
    isRight ? 'Paid exactly once.' : 'This is not what was promised.',
  ];
  createOutput({ json }).result(report, words.join('\n'));
  process.exitCode = isRight ? EXIT.done : EXIT.failed;
}

/** The process that the demo kills. */
async function runDemoGateway(): Promise<void> {
  const { createGateway } = await import('@lastcall/gateway');
  const { crashConfig } = await import('../demo/crash-config.ts');
  const gateway = createGateway(crashConfig(process.env.LASTCALL_DEMO_BANK ?? ''));
  await gateway.start();
  process.stdout.write(`Lastcall listens on ${gateway.url}\n`);
}
