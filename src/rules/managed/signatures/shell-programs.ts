const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Programs whose names have no other meaning: after a separator each is a command. */
export const CERTAIN_PROGRAMS = words(
  "xterm chpasswd whoami uname wget curl lynx ncat netcat socat telnet nslookup traceroute tracert bash zsh ksh csh dash tcsh busybox python python2 python3 " +
    "perl gawk egrep xxd mkfifo mknod killall pkill printenv ifconfig netstat iptables crontab systemctl useradd usermod passwd chattr chmod chown " +
    "apt-get nohup powershell pwsh certutil bitsadmin mshta rundll32 regsvr32 wmic tasklist taskkill ipconfig systeminfo schtasks cscript wscript " +
    "getent lsof lscpu dmesg lsblk ifup nmap tcpdump strace msfvenom sqlmap phpinfo cmd net1 netsh getmac whoami.exe lsb_release arp nbtstat " +
    "vssadmin nltest wevtutil bcdedit diskpart fsutil cmdkey dsquery ntdsutil procdump installutil msbuild regasm forfiles wbadmin odbcconf mimikatz " +
    "mysqldump psql sqlite3 ssh-keygen ssh-keyscan scp rsync tftp openssl gcc uptime vmstat zcat bzcat",
);

/** Programs whose names are ordinary words, and which are commands only with certain arguments. */
export const AMBIGUOUS_PROGRAMS = words(
  "cat tac nc sh ssh dig host ruby php node lua awk sed grep head tail more less nl od rev sort tee find xargs kill rm mv cp ln mkdir touch echo " +
    "printf set export ip route ps top last at service su sudo apt yum dnf pip npm tar zip unzip gzip dd mount nohup type ss reg sc net strings copy del move " +
    "cd pushd docker podman kubectl helm tmux timeout md5sum sha1sum sha256sum chroot insmod modprobe adduser deluser userdel groupadd umount " +
    "swapoff sysctl trap setsid doas journalctl rd rmdir findstr shred mkfs comm diff rg jq ftp fetch env cut tr wc file stat df du free history git gdb vi vim ed eval exec source expr print attrib base64 base32 cacls icacls start ver",
);

/** Programs with output even without arguments. */
export const LISTING_PROGRAMS = words("id ls ll dir pwd ps env set ver w who ifconfig hostname reboot halt poweroff date");

/** Programs that are commands without arguments only at the beginning of a value, because they are ordinary words. */
export const BARE_PROGRAMS = words("export alias history last mount lastlog jobs locale umask ulimit make top calc notepad groups users");

/** Programs whose argument is a number. */
export const WAITING_PROGRAMS = words("sleep ping ping6 timeout usleep");
