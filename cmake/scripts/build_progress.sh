#!/bin/sh
# build_progress.sh LOG: copies what a build prints into LOG, and shows of it what fails, and every
# fifteen seconds how far the build is. If LOG cannot be written, says so once and reads on.
seconds_between=15
last=$(date +%s)
: > "$1"
while IFS= read -r line; do
    if ! printf '%s\n' "$line" 2> /dev/null >> "$1"; then
        printf '   cannot write %s: ' "$1" >&2
        df -Pk "$1" | awk 'NR == 2 { printf "%d MB are free there\n", $4 / 1024 }' >&2
        exec cat > /dev/null
    fi
    case $line in
        FAILED:*) printf '   %s\n' "$line" ;;
        "["*/*"] "*)
            now=$(date +%s)
            if [ $((now - last)) -ge "$seconds_between" ]; then
                printf '   %s\n' "$line"
                last=$now
            fi
            ;;
    esac
done
