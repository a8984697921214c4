import { charge } from "#rules/budget.ts";

const TEXT_STEPS = 400;

/**
 * Whether a text is the path, from its root, of a sensitive file or folder of a Unix system, or contains one of the best
 * known. Sentences about such files do not count.
 */
export function namesSystemFile(text: string): boolean {
  charge(TEXT_STEPS + text.length);
  const begin = text.slice(0, PATH_BYTES_MAX);
  const from = /^(?:[a-z0-9_]{1,20}[=:]|file:(?:\/\/)?)?[~."'/\x00]{0,64}/.exec(begin)![0].length;
  const rest = begin.slice(from);
  if (isSharedFile(text)) return false;
  // A person's own settings, as questions name them.
  if (/^~\/\.(?:bashrc|bash_profile|profile|zshrc|vimrc)$/.test(text.trim())) return false;
  return (from > 0 && !/\s/.test(rest.trim()) && SYSTEM_FILES.some((files) => files.test(rest))) || KNOWN_FILE.test(begin);
}

/** A file that a container has under the same path as its host: `/etc/localtime:/etc/localtime:ro`. */
export function isSharedFile(text: string): boolean {
  const [outside = "", inside, mode = "ro", ...more] = text.trim().split(":", 5);
  return outside.startsWith("/") && outside === inside && /^r[ow]$/.test(mode) && more.length === 0;
}

const PATH_BYTES_MAX = 1024;

/** The end of a value, of a call's argument or of a text. */
const KNOWN_FILE =
  /^etc\/{1,3}(?:passwd|shadow)\b(?!\.[a-z]| [a-z]{2})|(?:^[^ ]{0,200}|[="'(<>|])\/{1,3}etc\/{1,3}(?:passwd|shadow|group|hosts|issue|hostname)(?:\x00|[?#&;|"')%<]|$)/;

const files = (source: string): RegExp => new RegExp(`^(?:${source})`);

/** Paths after the first slash. */
const SYSTEM_FILES: readonly RegExp[] = [
  files(
    "etc/(?:[^ ]{1,80}\\.(?:conf|cnf|cfg|ini|key|pem)(?:[^a-z]|$)|passwd|shadow|gshadow|group|hosts|hostname|host\\.conf|master\\.passwd|sudoers|crontab|cron\\.|fstab|mtab|issue|motd|resolv\\.conf|inetd|os-release|redhat-release|debian_version|network|ssh/|ssl/|mysql/|my\\.cnf|apache[0-9]?/|nginx/|httpd/|php[0-9.]{0,4}[/.]|samba/|exports|security/|profile|environment|bash|init\\.d|rc\\.|ld\\.so|syslog|vsftpd|proftp|pure-ftpd|wu-ftpd|ftp|aliases|services|x11/|sysconfig/|kubernetes/|at\\.|lighttpd|chrootusers|logrotate|modules|termcap|updatedb|pam\\.d/|selinux/|systemd/|default/|sysctl|netplan/|docker/|letsencrypt/|postfix/|dovecot/|ansible/|rsyslog|hosts\\.(?:allow|deny)|protocols|nsswitch|shells|login\\.defs|crypttab|inittab|xinetd|cups/|openvpn/|wireguard/|passwd-)",
  ),
  files(
    "(?:proc|sys)/(?:self|version|cpuinfo|meminfo|cmdline|environ|mounts|net/|sched_debug|stat|interrupts|modules|filesystems|ioports|partitions|swaps|kernel|[0-9]{1,7}/)",
  ),
  files(
    "var/(?:log(?!s?/[a-z0-9_-]{1,40}/(?!access|error|exim|samba|audit|sa\\d|log\\.)[a-z0-9_-]{1,40}\\.log$)|log/(?:apache|httpd|nginx|lighttpd|mysql|mariadb|postgres|samba|audit|exim|squid|tomcat|cups|mail|syslog|auth|ftp|vsftpd|proftpd|php)[^ ]{0,80}|adm|apache2?|cpanel|local|mysql|www/(?:logs?|conf|mgr|[^ ]{0,60}\\.(?:ht|log))|run/(?:secrets|utmp)|lib/(?:mysql|php|mlocate|postgresql)|mail/|spool/|webmin/)",
  ),
  files(
    "root/\\.[a-z]|home/[a-z0-9._-]{1,32}/\\.(?:ssh|aws|bash|gnupg|kube|docker|netrc|pgpass|my\\.cnf|mysql|psql|sqlite|python_history|npmrc|git|profile|zsh|sh_history|env|mozilla|vnc|rhosts|viminfo|azure|gcloud|config/(?:gcloud|gh|rclone)|local/share/keyrings|subversion|s3cfg|ht|pypirc|m2/settings)|\\.?(?:bash_(?:profile|history|logout|rc)|bashrc)$",
  ),
  files(
    "usr/(?:local/(?:apache|nginx|etc|php|lib/php|zeus|cpanel|pureftpd|www/logs|psa|mysql)|lib/(?:php|cron|rpm/rpm|security)|etc/|spool/|ports/|sbin/pure|home/)",
  ),
  files(
    "opt/(?:lampp|xampp|apache|nginx|httpd|lsws|solr|tomcat)[^ ]{0,60}/(?:conf|logs?|etc|bin)|(?:logs?|apache[0-9]?|httpd|nginx|xampp|lampp)/(?:[^ ]{0,40}/)?(?:access|error|security|pure)[._-]?",
  ),
  files(
    "dev/(?:tcp|udp|fd|stdin|null|random|zero)|boot/(?:grub|initrd|config)|web-inf/|meta-inf/|php[0-9]?/php\\.ini|(?:system|volumes)/[a-z0-9_]{1,20}/(?:system|usr|etc|opt|webbackup|library)|private/(?:etc|var)/|library/webserver",
  ),
];
