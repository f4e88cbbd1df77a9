setsid sh -c 'sleep 1000 & sleep 1001' &
nohup sh -c 'while :; do sleep 1002; done' >/dev/null 2>&1 &
(sh -c 'sleep 1003; :' & sleep 1004) &
sh -c 'sleep 1005; :'
