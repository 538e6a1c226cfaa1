/** The systemd units: least rights, ready when the program says so, restarted when one of its loops stops. */
import { STATE, USER } from '../../contract/own-user.ts';

interface Unit {
  description: string;
  /** Absolute path and arguments. */
  command: string;
  /** Run as root before each start: goes back from a version that does not come up. */
  guard?: string;
  /** The program lies in somebody's home, or in root's. */
  inHome?: true;
}

export const CONFIGURATION = '/etc/platen';

/** How a person, or a supervisor that is not systemd, starts a program as the service's user. */
export function startedAsUser(words: string): string {
  return `setpriv --reuid ${USER} --regid ${USER} --groups ${USER},lp ${words}`;
}

export function unitText({ description, command, guard, inHome }: Unit): string {
  return `[Unit]
Description=${description}
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
NotifyAccess=main
${guard === undefined ? '' : `ExecStartPre=+-${guard}\n`}ExecStart=${command}
User=${USER}
Group=${USER}
# The nodes of USB printers belong to it.
SupplementaryGroups=lp
UMask=0077
StateDirectory=platen
StateDirectoryMode=0700
WorkingDirectory=${STATE}
Environment=MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576 LOG_LEVEL=info

# A database or a queue that is away is waited for, however long.
TimeoutStartSec=infinity
WatchdogSec=60
Restart=always
RestartSec=5
# Wrong usage, or a configuration that cannot be used: to start again would not help.
RestartPreventExitStatus=2
# Labels under way come to their end; what is left is handed back.
TimeoutStopSec=75
# The program ends its database itself.
KillMode=mixed

CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=${inHome ? 'read-only' : 'yes'}
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
PrivateTmp=yes
# USB printers and parallel ports, and no other device.
DevicePolicy=closed
DeviceAllow=char-usb rw
DeviceAllow=char-lp rw
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
# MemoryDenyWriteExecute is not set: Node compiles what it runs.

[Install]
WantedBy=multi-user.target
`;
}
