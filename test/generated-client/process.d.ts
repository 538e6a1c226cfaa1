/** What the programs need of Node, without its types. */
declare const process: { env: Record<string, string | undefined> };
